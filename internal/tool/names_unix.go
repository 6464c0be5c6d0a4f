//go:build unix

package tool

import (
	"fmt"
	"os"
	"syscall"
)

// nameCount returns how many names, in any folder, an open file has.
func nameCount(file *os.File) (int, error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("how many names it has is not known")
	}
	return int(stat.Nlink), nil
}
