package sandbox

import (
	"debug/elf"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// libraryFolders are where the dynamic loader looks for libraries on the systems that windlass runs on.
var libraryFolders = []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/nix/store", "/gnu/store"}

// Loader returns what a program needs beside itself to be started: the dynamic loader that it names, which has to be in
// [Policy].Execute, and the files and folders with libraries, for [Policy].Read. A program that is no ELF file, such as a
// script, names its own interpreter: for that the error is nil and the lists are those of any program.
func Loader(program string) (execute, read []string, err error) {
	read = append([]string{"/etc/ld.so.cache", "/etc/ld.so.preload"}, libraryFolders...)
	interpreter, err := interpreterOf(program)
	if err != nil {
		return nil, nil, fmt.Errorf("find the loader of %s: %w", program, err)
	}
	if interpreter != "" {
		execute = append(execute, interpreter)
		if real, err := filepath.EvalSymlinks(interpreter); err == nil {
			read = append(read, filepath.Dir(real))
		}
	}
	return execute, read, nil
}

// interpreterOf returns the dynamic loader that an ELF file names; empty for a static program and for other files.
func interpreterOf(program string) (string, error) {
	f, err := elf.Open(program)
	var format *elf.FormatError
	switch {
	case errors.As(err, &format):
		return "", nil
	case err != nil:
		return "", err
	}
	defer func() { _ = f.Close() }()
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		text := make([]byte, p.Filesz)
		if _, err := p.ReadAt(text, 0); err != nil {
			return "", err
		}
		return strings.TrimRight(string(text), "\x00"), nil
	}
	return "", nil
}

