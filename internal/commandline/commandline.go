// Package commandline writes command lines as a person can type them again, and has bash complete them.
package commandline

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Typed writes the flags that a command was given, but for some, as they can be typed again; each
// with a space before it.
func Typed(flags *pflag.FlagSet, without ...string) string {
	var b strings.Builder
	flags.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			switch {
			case slices.Contains(without, f.Name):
			case f.Value.Type() == "bool" && v == "true":
				b.WriteString(" --" + f.Name)
			case f.Value.Type() == "bool":
				b.WriteString(" --" + f.Name + "=" + v)
			default:
				b.WriteString(" --" + f.Name + " " + Quote(v))
			}
		}
	})
	return b.String()
}

// Self is how this program was called, as a person would type it again.
func Self() string {
	exe, err := os.Executable()
	if err == nil && strings.Contains(filepath.ToSlash(exe), "/go-build") {
		return "go run ./cmd/windlass"
	}
	return "windlass"
}

// Quote quotes a text for a shell, where that is needed.
func Quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%=,", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Path quotes a path for a shell, where that is needed, so that no command takes it for a flag.
func Path(path string) string {
	if strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	return Quote(path)
}
