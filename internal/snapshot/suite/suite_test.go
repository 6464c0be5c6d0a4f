package suite

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/snapshot"
)

func TestFind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"b.test.json", "a/a.test.json", "a/notes.json", ".git/c.test.json", "empty/x.json"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(at(name)), 0o700))
		require.NoError(t, os.WriteFile(at(name), nil, 0o600))
	}
	files, err := Find([]string{dir, at("b.test.json"), at("a/notes.json")})
	require.NoError(t, err)
	require.Equal(t, []string{at("a/a.test.json"), at("a/notes.json"), at("b.test.json")}, files, "what is named is a test, whatever its name")

	_, err = Find([]string{at("nothing")})
	var missing *MissingError
	require.ErrorAs(t, err, &missing)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.EqualError(t, err, "there are no tests: "+at("nothing")+" does not exist")
	_, err = Find([]string{at("b.test.json/x")})
	require.ErrorContains(t, err, "there are no tests in "+at("b.test.json/x")+": ")
	_, err = Find([]string{at("empty"), at("empty")})
	var empty *EmptyError
	require.ErrorAs(t, err, &empty)
	require.EqualError(t, err, "there are no tests in "+at("empty")+", "+at("empty")+": no file's name ends in .test.json")
}

// TestRunAll: files that are no tests are errors of their own, in the order of the files.
func TestRunAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.test.json")
	require.NoError(t, os.WriteFile(broken, []byte("{"), 0o600))
	missing := filepath.Join(dir, "missing.test.json")
	var steps atomic.Int32
	r := Options{Step: func() { steps.Add(1) }}.RunAll(t.Context(), []string{broken, missing})
	require.Equal(t, int32(2), steps.Load())
	require.Equal(t, 2, r.NotPassed())
	require.Equal(t, 2, r.Errors)
	require.Equal(t, "broken", r.Tests[0].Name)
	require.Contains(t, r.Tests[0].Problem, "the file is no test: ")
	require.Equal(t, missing, r.Tests[1].File)
	require.False(t, r.HasUpdatable() || r.HasStuck())
}

func TestJUnit(t *testing.T) {
	t.Parallel()
	report := &Report{Failed: 1, Errors: 1, Tests: []*Result{
		{Name: "good", CascadeID: "c", File: "tests/good.test.json", Status: Passed, took: 1500 * time.Microsecond},
		{Name: "bad", CascadeID: "c", Status: Failed, Problem: `not <as> "expected"`, Differences: []snapshot.Difference{
			{Aspect: snapshot.Output, Diff: "-a ]]> b\x1b[2J\x00\n+c & d\n"},
		}},
		{Name: "broken", Status: Errored, Problem: "no such file"},
	}}
	data, err := report.JUnit("tests", 2*time.Second)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(data), "<?xml"))
	var got struct {
		XMLName  xml.Name `xml:"testsuites"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Suites   []struct {
			Name  string  `xml:"name,attr"`
			Time  float64 `xml:"time,attr"`
			Cases []struct {
				Name    string  `xml:"name,attr"`
				Class   string  `xml:"classname,attr"`
				Time    float64 `xml:"time,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
					Text    string `xml:",chardata"`
				} `xml:"failure"`
				Error *struct {
					Message string `xml:"message,attr"`
				} `xml:"error"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	require.NoError(t, xml.Unmarshal(data, &got))
	require.Equal(t, []int{3, 1, 1}, []int{got.Tests, got.Failures, got.Errors})
	require.Len(t, got.Suites, 1)
	require.Len(t, got.Suites[0].Cases, 3)
	require.InDelta(t, 2, got.Suites[0].Time, 0)
	good, bad, broken := got.Suites[0].Cases[0], got.Suites[0].Cases[1], got.Suites[0].Cases[2]
	require.Nil(t, good.Failure)
	require.Nil(t, good.Error)
	require.InDelta(t, 0.002, good.Time, 0.0005)
	require.Equal(t, `not <as> "expected"`, bad.Failure.Message)
	require.Equal(t, "output:\n-a ]]> b\uFFFD[2J\uFFFD\n+c & d\n", bad.Failure.Text)
	require.Equal(t, "no such file", broken.Error.Message)
}
