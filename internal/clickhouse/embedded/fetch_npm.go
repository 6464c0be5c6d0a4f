package embedded

import (
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// canFetchNpm returns the pinned package of the platform and the path of npm.
func (c Config) canFetchNpm() (pin, string, error) {
	if !canLoad {
		return pin{}, "", ErrUnsupported
	}
	if c.CacheDir == "" {
		return pin{}, "", errNoCache
	}
	p, ok := pins()[c.platform()]
	if !ok {
		return pin{}, "", fmt.Errorf("no package with a known checksum for %s: none is fetched unchecked", c.platform())
	}
	npm, err := c.lookPath("npm")
	if err != nil {
		return pin{}, "", err
	}
	return p, npm, nil
}

// fetchNpm fetches the pinned package with "npm pack", which downloads and runs nothing of it. npm is used with the
// user's own configuration, so that proxies, mirrors and credentials are as for every other package.
func (c Config) fetchNpm(ctx context.Context, progress func(Progress)) (Engine, error) {
	p, npm, err := c.canFetchNpm()
	if err != nil {
		return Engine{}, err
	}
	want, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(p.integrity, "sha512-"))
	if err != nil {
		return Engine{}, fmt.Errorf("read the pinned checksum: %w", err)
	}
	get := func(ctx context.Context, staging string) (string, error) {
		return npmPack(ctx, npm, p, staging, progress)
	}
	return c.fetch(ctx, c.npmDir(p), checksum{hash: sha512.New(), want: want, name: p.integrity}, get, progress)
}

func (c Config) npmDir(p pin) string {
	name := p.version + "-" + strings.ReplaceAll(c.platform(), "/", "-")
	return filepath.Join(c.CacheDir, engineDir, name)
}

// npmPack runs npm. Its own cache goes into the staging folder: the user's would keep a second copy of 180 MB for good,
// and the growth of this one shows how far the download is.
func npmPack(ctx context.Context, npm string, p pin, staging string, progress func(Progress)) (string, error) {
	cache := filepath.Join(staging, "npm")
	cmd := exec.CommandContext(ctx, npm, "pack", p.pkg+"@"+p.version,
		"--pack-destination", staging, "--cache", cache, "--ignore-scripts", "--loglevel", "error", "--no-update-notifier")
	cmd.Dir = staging
	killGroup(cmd)
	cmd.WaitDelay = 2 * time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stop := watchSize(cache, Progress{Step: StepDownload, Total: p.packed}, progress)
	err := cmd.Run()
	stop()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("npm pack %s@%s: %w%s", p.pkg, p.version, err, npmReason(stderr.String()))
	}
	found, err := filepath.Glob(filepath.Join(staging, "*.tgz"))
	if err != nil || len(found) != 1 {
		return "", errors.Join(fmt.Errorf("npm pack %s@%s left %d archives, expected 1", p.pkg, p.version, len(found)), err)
	}
	return found[0], nil
}

// npmReason returns the lines of npm's complaint that help, without its pointers to log files that are deleted here.
func npmReason(stderr string) string {
	var lines []string
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "npm error"))
		if line == "" || strings.Contains(line, "complete log of this run") || strings.HasPrefix(line, "npm warn") {
			continue
		}
		if lines = append(lines, line); len(lines) == 6 {
			break
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return ": " + strings.Join(lines, "; ")
}

// watchSize tells the size of what is in dir until the returned function is called, which waits for the last telling.
func watchSize(dir string, state Progress, progress func(Progress)) (stop func()) {
	tell(progress, state)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				state.Done = min(dirSize(dir), state.Total)
				tell(progress, state)
			}
		}
	}()
	return func() { close(quit); <-done }
}

// dirSize sums up the files below dir. Files that vanish meanwhile count as nothing.
func dirSize(dir string) int64 {
	var n int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // a file that is gone is not an error here
		}
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	return n
}

// DirSize returns the bytes of all files below dir, 0 if there is no such folder.
func DirSize(dir string) int64 {
	if _, err := os.Stat(dir); err != nil {
		return 0
	}
	return dirSize(dir)
}
