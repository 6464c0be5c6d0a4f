package embedded

// pin names one published package with the engine's library for one platform, and what it must be byte for byte.
type pin struct {
	pkg       string
	version   string
	integrity string // as npm writes it: "sha512-" and base64 of the packed file's SHA-512
	packed    int64  // bytes of the packed file
	unpacked  int64  // bytes of the library in it
}

// pins are the packages that windlass fetches by itself, by GOOS/GOARCH. A platform is listed only with an integrity that
// was checked against the published package, and only with a version whose clickhouse-local can listen (26.7 can, 26.5
// cannot); on every other platform the engine has to come from somewhere else, and the error says from where.
func pins() map[string]pin {
	return map[string]pin{
		"linux/amd64": {
			pkg:       "@chdb/lib-linux-x64-gnu",
			version:   "26.7.3-stable.1",
			integrity: "sha512-XP97mMqnc5tZpKQywR8N7cLTsHNiTmHr30pC5mzo3jWmukjKn2IBa60c2B/gWUNcuFjOMjWoorQICCqBVj5wpw==",
			packed:    177817999,
			unpacked:  566330096,
		},
	}
}
