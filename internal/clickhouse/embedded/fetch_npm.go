package embedded

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/windlass-run/windlass/internal/fetch"
)

// canFetchNpm returns the pinned package of the platform and the path of npm.
func (c Config) canFetchNpm() (fetch.Package, string, error) {
	if err := c.checkCache(); err != nil {
		return fetch.Package{}, "", err
	}
	p, ok := pins()[c.platform()]
	if !ok {
		return fetch.Package{}, "", fmt.Errorf("no package with a known checksum for %s: none is fetched unchecked", c.platform())
	}
	npm, err := fetch.LookPath(c.Path, "npm")
	if err != nil {
		return fetch.Package{}, "", err
	}
	return p, npm, nil
}

// fetchNpm fetches the pinned package.
func (c Config) fetchNpm(ctx context.Context, progress func(Progress)) (Engine, error) {
	p, npm, err := c.canFetchNpm()
	if err != nil {
		return Engine{}, err
	}
	sum, err := p.Checksum()
	if err != nil {
		return Engine{}, err
	}
	return c.fetch(ctx, c.npmDir(p), sum, p.Pack(npm, StepDownload, progress), progress)
}

func (c Config) npmDir(p fetch.Package) string {
	name := p.Version + "-" + strings.ReplaceAll(c.platform(), "/", "-")
	return filepath.Join(c.CacheDir, engineDir, name)
}
