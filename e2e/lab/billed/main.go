//go:build unix

package billed

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab"
)

// Main is TestMain of a suite: it reads the flags that all suites have, builds windlass and runs the tests.
func (s *Suite) Main(m *testing.M) {
	flag.IntVar(&s.Deaths, "kills", 30, "how often windlass is killed in all")
	seed := flag.Uint64("seed", 0, "where it is killed, and which markers are planted; 0: each time elsewhere")
	flag.BoolVar(&s.Update, "update", false, "write the texts of testdata/bad anew")
	flag.Parse()
	s.Seed = cmp.Or(*seed, rand.Uint64())
	code, err := s.buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if code != 0 {
		fmt.Fprintln(os.Stderr, "seed", s.Seed)
	}
	os.Exit(code)
}

// buildAndRun returns the exit code of the tests.
func (s *Suite) buildAndRun(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "billed-bin-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder that stays behind fails nothing
	if s.Bin, err = lab.Build(dir); err != nil {
		return 0, err
	}
	return m.Run(), nil
}
