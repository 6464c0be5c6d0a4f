//go:build !linux

package jq

import "os"

// limitMemory does nothing: the watch of the process itself is what there is.
func limitMemory(uint64) {}

func executable() (string, error) { return os.Executable() }

func ended(*os.ProcessState) bool { return false }
