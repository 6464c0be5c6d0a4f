package mailbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Mark leaves a mark of a name in a mailbox, once however often it is called. A mark says nothing but that it is there.
func (b Box) Mark(name string) error {
	err := b.write(markFile(name), struct{}{})
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// HasMark reports whether a mark was left.
func (b Box) HasMark(name string) bool {
	_, err := os.Lstat(filepath.Join(b.Dir, markFile(name)))
	return isName(markFile(name)) && err == nil
}

func markFile(name string) string { return "mark-" + name + ".json" }
