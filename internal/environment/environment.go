// Package environment reads the environment of this process, and keeps the variables that are
// secrets where children do not find them.
//
// Everything that is read from the environment and may be a secret is read through this package. A
// program that owns its environment, as the command windlass does, takes secrets out of it, see
// package vault. The environment of a program that uses windlass as a library is left as it is.
package environment

import (
	"os"
	"slices"
	"sync"
)

var (
	mu       sync.RWMutex // guards all
	owned    bool
	hidden   = map[string]string{}
	withheld = map[string]bool{} // of the hidden ones, those that nobody is given any more
)

// Own says that this process is windlass's own: from now on [Hide] takes variables out of its
// environment.
func Own() {
	mu.Lock()
	defer mu.Unlock()
	owned = true
}

// LookupEnv is [os.LookupEnv] for variables that may be hidden.
func LookupEnv(name string) (string, bool) {
	mu.RLock()
	v, ok := hidden[name]
	gone := withheld[name]
	mu.RUnlock()
	switch {
	case gone:
		return "", false
	case ok:
		return v, true
	}
	return os.LookupEnv(name)
}

// Getenv is [os.Getenv] for variables that may be hidden.
func Getenv(name string) string {
	v, _ := LookupEnv(name)
	return v
}

// Hide takes variables out of the environment that children inherit, as they turned out to be
// secrets. It does nothing in a process that is not windlass's own.
func Hide(names ...string) {
	mu.Lock()
	defer mu.Unlock()
	if !owned {
		return
	}
	for _, name := range names {
		if v, ok := os.LookupEnv(name); ok && name != "" && os.Unsetenv(name) == nil {
			hidden[name] = v
		}
	}
}

// Withhold hides a variable that nobody is to be given any more, whatever was granted. It stays
// known as a secret.
func Withhold(name string) {
	Hide(name)
	mu.Lock()
	defer mu.Unlock()
	withheld[name] = true
}

// Received makes known what the process handed over to itself.
func Received(name, value string) {
	mu.Lock()
	defer mu.Unlock()
	hidden[name] = value
}

// Keep makes a secret known that did not come from the environment, under the name of a variable
// that nobody is given.
func Keep(name, value string) {
	mu.Lock()
	defer mu.Unlock()
	hidden[name], withheld[name] = value, true
}

// Hidden returns what is hidden, as NAME=value, sorted.
func Hidden() []string {
	mu.RLock()
	defer mu.RUnlock()
	out := make([]string, 0, len(hidden))
	for name, v := range hidden {
		out = append(out, name+"="+v)
	}
	slices.Sort(out)
	return out
}
