package tool

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// isPrivate says whether, going up from a path, a private folder comes before a granted one.
// Folders are compared by identity: links and other spellings lead to the same one.
func (f *folders) isPrivate(abs string) bool {
	if len(f.private) == 0 {
		return false
	}
	for dir := resolve(abs); ; dir = filepath.Dir(dir) {
		if slices.ContainsFunc(f.private, func(p string) bool { return resolve(p) == dir }) {
			return true
		}
		if info, err := os.Stat(dir); err == nil {
			if f.holdsPrivate(info) {
				return true
			}
			if f.isGranted(info) {
				return false
			}
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// mayBePrivate spares a walk looking at every file: a private one is met by its name.
func (f *folders) mayBePrivate(d fs.DirEntry) bool {
	return slices.ContainsFunc(f.private, func(p string) bool { return d.IsDir() || filepath.Base(p) == d.Name() })
}

// holdsPrivate says whether a folder that exists is a private one. They are looked up each time,
// since one can be made during the run.
func (f *folders) holdsPrivate(info fs.FileInfo) bool {
	return slices.ContainsFunc(f.private, func(path string) bool {
		p, err := os.Stat(path)
		return err == nil && os.SameFile(p, info)
	})
}

func (f *folders) isGranted(info fs.FileInfo) bool {
	return slices.ContainsFunc(f.roots, func(r folder) bool { return os.SameFile(r.info, info) })
}

// resolve follows the links of a path as far as it exists.
func resolve(abs string) string {
	rest := ""
	for dir := abs; ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if dir == filepath.Dir(dir) {
			return abs
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}
