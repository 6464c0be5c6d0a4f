package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// formulaPlatforms are those that Homebrew runs on; without one of them there is no formula.
var formulaPlatforms = []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64"}

var placeholder = regexp.MustCompile(`@[A-Z0-9_]+@`)

// formula writes the formula for Homebrew, with the checksums of the archives.
func (r *release) formula(sums map[string]string) error {
	values := map[string]string{"@VERSION@": strings.TrimPrefix(r.version, "v"), "@TAG@": r.version}
	for _, p := range formulaPlatforms {
		system := strings.ReplaceAll(p, "/", "_")
		sum, ok := sums["windlass_"+r.version+"_"+system+".tar.gz"]
		if !ok {
			return nil
		}
		values["@"+strings.ToUpper(system)+"@"] = sum
	}
	text, err := os.ReadFile(filepath.Join(r.root, "packaging", "homebrew", "windlass.rb.in"))
	if err != nil {
		return err
	}
	var unknown error
	filled := placeholder.ReplaceAllStringFunc(string(text), func(name string) string {
		value, ok := values[name]
		if !ok {
			unknown = fmt.Errorf("windlass.rb.in has %s, which is nothing", name)
		}
		return value
	})
	if unknown != nil {
		return unknown
	}
	return r.write("windlass.rb", []byte(filled))
}
