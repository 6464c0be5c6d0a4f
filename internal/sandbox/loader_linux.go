package sandbox

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// libraryFolders are where the dynamic loader looks for libraries.
var libraryFolders = []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/nix/store", "/gnu/store"}

// maxPath is the longest path that the kernel takes, in bytes.
const maxPath = 4096

// programFolders are where the programs are that a script runs.
var programFolders = []string{"/bin", "/usr/bin", "/usr/local/bin", "/opt", "/nix/store", "/gnu/store"}

// Loader returns what a program needs to start: its dynamic loader for [Policy].Execute and
// libraries for [Policy].Read. A script may run programs of the system and of its own folder.
func Loader(program string) (execute, read []string, err error) {
	read = append([]string{"/etc/ld.so.cache", "/etc/ld.so.preload"}, libraryFolders...)
	interpreter, isELF, err := interpreterOf(program)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("find the loader of %s: %w", program, err)
	case !isELF:
		execute = append([]string{filepath.Dir(program)}, programFolders...)
		if interpreter, _, err = interpreterOf("/bin/sh"); err != nil {
			return nil, nil, fmt.Errorf("find the loader of the shell: %w", err)
		}
	}
	if interpreter != "" {
		execute = append(execute, interpreter)
		if real, err := filepath.EvalSymlinks(interpreter); err == nil {
			read = append(read, filepath.Dir(real))
		}
	}
	return execute, read, nil
}

// interpreterOf returns the dynamic loader of an ELF file, empty for a static program.
func interpreterOf(program string) (path string, isELF bool, err error) {
	f, err := elf.Open(program)
	var format *elf.FormatError
	switch {
	case errors.As(err, &format), errors.Is(err, io.EOF):
		return "", false, nil
	case err != nil:
		return "", false, err
	}
	defer func() { _ = f.Close() }()
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		text := make([]byte, min(p.Filesz, maxPath))
		if _, err := p.ReadAt(text, 0); err != nil {
			return "", true, err
		}
		return strings.TrimRight(string(text), "\x00"), true, nil
	}
	return "", true, nil
}
