package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/tools/internal/modules"
)

// file is one file of an archive.
type file struct {
	name    string // below the archive's one folder, with slashes
	content []byte
	program bool
}

// archive returns the archive of a platform with its name.
func (r *release) archive(ctx context.Context, work, platform string, completions []file) (string, []byte, error) {
	files, err := r.files(ctx, work, platform)
	if err != nil {
		return "", nil, err
	}
	files = append(files, completions...)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	folder := "windlass_" + r.version + "_" + strings.ReplaceAll(platform, "/", "_")
	var content bytes.Buffer
	if strings.HasPrefix(platform, "windows/") {
		err = r.zip(&content, folder, files)
		return folder + ".zip", content.Bytes(), err
	}
	err = r.tar(&content, folder, files)
	return folder + ".tar.gz", content.Bytes(), err
}

// files returns what differs from platform to platform, and what stands in the sources.
func (r *release) files(ctx context.Context, work, platform string) ([]file, error) {
	program := "windlass"
	if strings.HasPrefix(platform, "windows/") {
		program += ".exe"
	}
	built := filepath.Join(work, strings.ReplaceAll(platform, "/", "_"))
	if err := r.build(ctx, platform, built); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(built)
	if err != nil {
		return nil, err
	}
	files := []file{{program, content, true}}
	for _, name := range []string{"LICENSE", "LICENSES.csv", "README.md", "CHANGELOG.md"} {
		content, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, content, false})
	}
	own, err := goLicence(ctx)
	if err != nil {
		return nil, err
	}
	files = append(files, own)
	linked, err := modules.Linked(ctx, r.root, platform)
	if err != nil {
		return nil, err
	}
	for _, m := range linked {
		names, err := m.Notices()
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("%s %s has no file with its licence", m.Path, m.Version)
		}
		for _, name := range names {
			content, err := os.ReadFile(filepath.Join(m.Dir, name))
			if err != nil {
				return nil, err
			}
			files = append(files, file{path.Join("licenses", m.Path, name), content, false})
		}
	}
	return files, nil
}

// goLicence returns the licence of Go, whose standard library is linked in, too.
func goLicence(ctx context.Context) (file, error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return file{}, fmt.Errorf("find Go: %w", err)
	}
	content, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "LICENSE"))
	return file{"licenses/go/LICENSE", content, false}, err
}

func (f file) mode() int64 {
	if f.program {
		return 0o755
	}
	return 0o644
}

func (r *release) tar(out *bytes.Buffer, folder string, files []file) error {
	z := gzip.NewWriter(out)
	w := tar.NewWriter(z)
	var failed error
	for _, f := range files {
		failed = errors.Join(failed, w.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: folder + "/" + f.name, Size: int64(len(f.content)), Mode: f.mode(), ModTime: r.time, Format: tar.FormatPAX,
		}))
		_, err := w.Write(f.content)
		failed = errors.Join(failed, err)
	}
	return errors.Join(failed, w.Close(), z.Close())
}

func (r *release) zip(out *bytes.Buffer, folder string, files []file) error {
	z := zip.NewWriter(out)
	var failed error
	for _, f := range files {
		h := &zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: r.time}
		h.SetMode(os.FileMode(f.mode())) //nolint:gosec // two values that fit
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(f.content)
		}
		failed = errors.Join(failed, err)
	}
	return errors.Join(failed, z.Close())
}
