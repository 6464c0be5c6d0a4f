//go:build !linux && !darwin

package keys

import "os"

// Supported reports whether keys can be read on this system.
const Supported = false

type mode struct{}

func setMode(*os.File) (*mode, error) { return nil, ErrNoKeyboard }

func (*mode) restore(*os.File, bool) error { return nil }

func inForeground(*os.File) bool { return true }

func suspend() {}

func read(*os.File, []byte) (int, error) { return 0, ErrNoKeyboard }
