package app

import (
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/secret"
)

// withoutSecrets returns an error whose text shows no secret. What it is made of is as it was.
func withoutSecrets(s *secret.Set, err error) error {
	if err == nil || !s.Has(err.Error()) {
		return err
	}
	return &quietError{s.Text(err.Error()), err}
}

type quietError struct {
	text string
	err  error
}

func (e *quietError) Error() string { return e.text }
func (e *quietError) Unwrap() error { return e.err }

// KnownSecrets returns what no result, record or answer may show: the keys of all endpoints, the
// password of ClickHouse, the variables that were granted, and whatever else of the environment is
// taken for a secret. Variables that turn out to be secrets only now are hidden from children, too.
func KnownSecrets(cfg *config.Config, granted []string) *secret.Set {
	var list []secret.Value
	for _, name := range slices.Sorted(maps.Keys(cfg.Models)) {
		list = append(list, llm.Secrets(cfg.Models[name], environment.Getenv)...)
	}
	list = append(list, llm.Secrets(config.Model{}, environment.Getenv)...)
	for _, v := range list {
		environment.Hide(v.Name)
	}
	for _, name := range granted {
		if !slices.Contains(plainVariables, name) {
			list = append(list, secret.Value{Name: name, Value: environment.Getenv(name)})
		}
	}
	for _, entry := range slices.Concat(environment.Hidden(), os.Environ()) {
		name, v, _ := strings.Cut(entry, "=")
		if environment.IsSecret(name, v) && !isPath(v) {
			list = append(list, secret.Value{Name: name, Value: v})
		}
		list = append(list, password(name, v)...)
	}
	list = append(list, password("clickhouse_dsn", cfg.ClickHouseDSN)...)
	return secret.New(list...)
}

// SecretsOf returns [KnownSecrets] by the configuration of the program's folder.
func SecretsOf(a *App, granted []string) (*secret.Set, error) {
	cfg, err := a.Config()
	if err != nil {
		return nil, err
	}
	return KnownSecrets(cfg, granted), nil
}

// plainVariables are granted often and hold nothing that must not be seen.
var plainVariables = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"}

// isPath reports whether a value names a file that there is: the file may be secret, its name is
// not.
func isPath(v string) bool {
	if !strings.HasPrefix(v, "/") {
		return false
	}
	_, err := os.Stat(v)
	return err == nil
}

// password returns the password in a URL.
func password(name, value string) []secret.Value {
	if !strings.Contains(value, "://") {
		return nil
	}
	u, err := url.Parse(value)
	if err != nil {
		return nil
	}
	p, _ := u.User.Password()
	out := []secret.Value{{Name: "the password of " + name, Value: u.Query().Get("password")}}
	if p != u.User.Username() {
		out = append(out, secret.Value{Name: "the password of " + name, Value: p})
	}
	return out
}
