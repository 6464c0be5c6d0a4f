// Package environment reads the variables of this process that may be secrets, and keeps those
// where children do not find them. Only a process of windlass's own takes them out of its
// environment, see package vault; that of a program that uses the library stays as it is.
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

// Own says that this process is windlass's own, so that [Hide] works.
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

// Hide takes secrets out of the environment that children inherit, in windlass's own process only.
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

// Withhold hides a variable that nobody gets any more, whatever was granted. It stays a secret.
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

// Keep makes a secret known under the name of a variable that nobody gets.
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
