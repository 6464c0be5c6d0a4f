package environment

import (
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

// IsSecret reports whether a variable is a secret: windlass's own, by the words of its name, or a
// URL with a password. Proxies, which every client needs, are not.
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
	at := strings.LastIndexByte(host, '@')
	return at >= 0 && strings.Contains(host[:at], ":")
}
