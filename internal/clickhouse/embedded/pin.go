package embedded

import "github.com/windlass-run/windlass/internal/fetch"

// pins are the packages with the engine's library that windlass fetches by itself, by GOOS/GOARCH.
// A platform is listed only with an integrity that was checked against the published package, and
// only with a version whose clickhouse-local can listen (26.7 can, 26.5 cannot); on every other
// platform the engine has to come from somewhere else, and the error says from where.
func pins() map[string]fetch.Package {
	return map[string]fetch.Package{
		"linux/amd64": {
			Name:      "@chdb/lib-linux-x64-gnu",
			Version:   "26.7.3-stable.1",
			Integrity: "sha512-XP97mMqnc5tZpKQywR8N7cLTsHNiTmHr30pC5mzo3jWmukjKn2IBa60c2B/gWUNcuFjOMjWoorQICCqBVj5wpw==",
			Packed:    177817999,
		},
	}
}
