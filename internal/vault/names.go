package vault

import (
	"os"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/environment"
)

// split parts an environment into what may be shown and what is secret, as the named ones always
// are.
func split(env, named []string) (keep, hide []string) {
	for _, entry := range env {
		name, v, _ := strings.Cut(entry, "=")
		if v != "" && (slices.Contains(named, name) || environment.IsSecret(name, v)) {
			hide = append(hide, entry)
		} else {
			keep = append(keep, entry)
		}
	}
	return keep, hide
}

// maxConfig bounds what is read of a windlass.json here.
const maxConfig = 1 << 20

// named returns the variables that the windlass.json in force names, valid or not.
func named() []string {
	for _, dir := range folders() {
		info, err := os.Stat(dir + "/windlass.json")
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxConfig {
			continue
		}
		data, err := os.ReadFile(dir + "/windlass.json")
		if err != nil {
			return nil
		}
		return namesIn(string(data))
	}
	return nil
}

// folders lists where a windlass.json may be, in the order in which package config looks.
func folders() []string {
	var out []string
	if dir, err := os.Getwd(); err == nil {
		for found := true; found; dir, found = beforeLast(dir, string(os.PathSeparator)) {
			out = append(out, dir)
		}
	}
	if home := os.Getenv("WINDLASS_HOME"); home != "" {
		return append(out, home)
	}
	if home, err := os.UserHomeDir(); err == nil {
		out = append(out, home+"/.windlass")
	}
	return out
}

// namesIn finds the variables that a configuration reads: "api_key_env": "NAME" and "${NAME}".
func namesIn(text string) (names []string) {
	for _, rest := range strings.Split(text, `"api_key_env"`)[1:] {
		value, ok := strings.CutPrefix(strings.TrimLeft(rest, " \t\r\n"), ":")
		quoted, isText := strings.CutPrefix(strings.TrimLeft(value, " \t\r\n"), `"`)
		if ok && isText {
			name, _, _ := strings.Cut(quoted, `"`)
			names = append(names, name)
		}
	}
	for _, rest := range strings.Split(text, "${")[1:] {
		name, _, _ := strings.Cut(rest, "}")
		names = append(names, name)
	}
	return names
}

func beforeLast(s, sep string) (before string, found bool) {
	i := strings.LastIndex(s, sep)
	return s[:max(i, 0)], i >= 0
}
