// Package bank has banks of memory: files that runs and people write and read, with every version of them. A bank is one
// file on this machine, of lines with checksums that are only ever added:
//
//	banks/shared/NAME.bank    for every project
//	banks/FOLDER/NAME.bank    for one project folder, by the hash of its path
//
// Any process may read a bank at any time. Who writes holds the lock beside it for as long as one line takes. A line is
// on the disk before a version in it is reported.
package bank

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/ledger"
)

const (
	suffix    = ".bank"
	sharedDir = "shared"
)

// Ref says which bank.
type Ref struct {
	Name   string
	Folder string // the project folder that it belongs to; "": every project shares it
}

// RefOf returns the bank that a name means in a project folder. The error is a [failure.InvalidRequest].
func RefOf(name, folder string) (Ref, error) {
	if err := memory.CheckName(name); err != nil {
		return Ref{}, failure.New(failure.InvalidRequest, err, "windlass memory list names the banks")
	}
	if rest, shared := memory.Split(name); shared {
		return Ref{Name: rest}, nil
	}
	folder, err := resolved(folder)
	if err != nil {
		return Ref{}, fmt.Errorf("find the project folder of the bank %s: %w", name, err)
	}
	return Ref{Name: name, Folder: folder}, nil
}

// resolved returns the one path of a folder, whatever way leads to it.
func resolved(folder string) (string, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(folder)
}

// String returns the name as a cascade has it.
func (r Ref) String() string {
	if r.Folder == "" {
		return memory.Shared + r.Name
	}
	return r.Name
}

// Project returns the folder in short: 16 hexadecimal digits; "" for a bank that every project shares.
func (r Ref) Project() string {
	if r.Folder == "" {
		return ""
	}
	return string(echo.TextHash([]byte(r.Folder)))
}

func (r Ref) path(home string) string { return filepath.Join(r.dir(home), r.Name+suffix) }

// dir returns the folder that the bank's file is in.
func (r Ref) dir(home string) string {
	return filepath.Join(config.BanksDir(home), cmp.Or(r.Project(), sharedDir))
}

// noun is what errors call the file of a bank.
const noun = "bank"

// DamageError says which line of a bank is not what was written, and why.
type DamageError = ledger.DamageError

func damaged(path string, line int, err error) error { return ledger.Damaged(noun, path, line, err) }

// storage says what failed with a bank's file.
func storage(verb, path string, err error) error { return ledger.Failed(noun, verb, path, err) }
