package vault

import (
	"os"
	"slices"
	"strings"
)

// own are the variables of windlass that hold secrets.
var own = []string{"OPENAI_API_KEY", "WINDLASS_CLICKHOUSE_DSN", "WINDLASS_SERVE_TOKEN"}

// words are those by which the name of a variable says that its value is a secret.
var words = []string{
	"KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "PASS", "PWD", "CREDENTIAL", "CREDENTIALS", "DSN", "PAT", "JWT", "AUTH",
}

// places are the words by which it says that its value only names where something is.
var places = []string{"FILE", "PATH", "DIR", "SOCK", "SOCKET"}

// split parts an environment into what may be shown and what is secret. Variables with the names that are given are secret
// in any case.
func split(env, named []string) (keep, hide []string) {
	for _, entry := range env {
		name, v, _ := strings.Cut(entry, "=")
		if v != "" && (slices.Contains(named, name) || IsSecret(name, v)) {
			hide = append(hide, entry)
		} else {
			keep = append(keep, entry)
		}
	}
	return keep, hide
}

// IsSecret reports whether a variable is taken for a secret: one of windlass's own, by the words of its name, or as its value
// is a URL with a password in it. Proxies are not, as every program that sends requests needs them.
func IsSecret(name, value string) bool {
	upper := strings.ToUpper(name)
	parts := strings.FieldsFunc(upper, func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	switch {
	case slices.Contains(own, name):
		return true
	case len(parts) == 0, strings.HasSuffix(upper, "_PROXY"), upper == "PWD", upper == "OLDPWD", slices.Contains(places, parts[len(parts)-1]):
		return false
	case hasPassword(value):
		return true
	}
	return slices.ContainsFunc(parts, func(p string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return p == w || len(w) > 4 && strings.HasSuffix(p, w) })
	})
}

// hasPassword reports whether a value is a URL with a password.
func hasPassword(value string) bool {
	_, rest, ok := strings.Cut(value, "://")
	if !ok {
		return false
	}
	host := rest
	if end := strings.IndexAny(rest, "/?# "); end >= 0 {
		host = rest[:end]
	}
	login, ok := beforeLast(host, "@")
	return ok && strings.Contains(login, ":")
}

func beforeLast(s, sep string) (before string, found bool) {
	i := strings.LastIndex(s, sep)
	return s[:max(i, 0)], i >= 0
}

// maxConfig bounds what is read of a windlass.json here.
const maxConfig = 1 << 20

// named returns the variables that the windlass.json in force names. It is only looked through: whether it is valid is said
// when it is read.
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
func namesIn(text string) []string {
	var out []string
	for rest := text; ; {
		_, after, ok := strings.Cut(rest, `"api_key_env"`)
		if !ok {
			break
		}
		rest = after
		if value, ok := strings.CutPrefix(strings.TrimLeft(after, " \t\r\n"), ":"); ok {
			if quoted, ok := strings.CutPrefix(strings.TrimLeft(value, " \t\r\n"), `"`); ok {
				name, _, _ := strings.Cut(quoted, `"`)
				out = append(out, name)
			}
		}
	}
	for rest := text; ; {
		_, after, ok := strings.Cut(rest, "${")
		if !ok {
			return out
		}
		name, _, _ := strings.Cut(after, "}")
		out, rest = append(out, name), after
	}
}
