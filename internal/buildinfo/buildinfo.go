// Package buildinfo says which version of windlass a program is, and from which commit it was built.
package buildinfo

import (
	"cmp"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
)

// Info is what is known of a build.
type Info struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // the commit; "" when it is not known
	Modified bool   `json:"modified,omitempty"` // files differed from those of the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// pseudoVersion is how the Go command names a version that has no tag: it ends with the commit.
var pseudoVersion = regexp.MustCompile(`[-.]\d{14}-([0-9a-f]{12})(\+.*)?$`)

// Of puts together what a release build was given and what the Go command has recorded.
func Of(version, commit string, info *debug.BuildInfo) Info {
	v := Info{
		Version: cmp.Or(version, info.Main.Version, "(devel)"), Revision: commit,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if commit != "" {
		v.Modified = strings.HasSuffix(version, "-dirty")
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	if m := pseudoVersion.FindStringSubmatch(info.Main.Version); v.Revision == "" && m != nil {
		v.Revision = m[1] // "go install MODULE@VERSION" knows no more
	}
	return v
}

// Commit says from which commit the program was built.
func (v Info) Commit() string {
	switch {
	case v.Revision == "":
		return "not recorded in this build"
	case v.Modified:
		return v.Revision + ", with changes"
	}
	return v.Revision
}
