package tool

import (
	"os"
	"syscall"
)

// nameCount returns how many names, in any folder, an open file has.
func nameCount(file *os.File) (int, error) {
	var info syscall.ByHandleFileInformation
	err := syscall.GetFileInformationByHandle(syscall.Handle(file.Fd()), &info)
	return int(info.NumberOfLinks), err
}
