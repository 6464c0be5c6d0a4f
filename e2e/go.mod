// The tests of the built program as others see it: the attacks, and other users of the machine. They are a module of
// their own, so that "go test ./..." of windlass needs nothing but windlass.
module github.com/windlass-run/windlass/e2e

go 1.26.0

replace github.com/windlass-run/windlass => ../

require (
	github.com/creack/pty v1.1.24
	github.com/windlass-run/windlass v0.0.0
)

require (
	github.com/gofrs/flock v0.13.1 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
