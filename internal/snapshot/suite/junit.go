package suite

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"time"
)

type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	junitCounts
	Suites []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name string `xml:"name,attr"`
	junitCounts
	Skipped int         `xml:"skipped,attr"`
	Cases   []junitCase `xml:"testcase"`
}

type junitCounts struct {
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Time     string `xml:"time,attr"` // seconds
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	File    string        `xml:"file,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitProblem `xml:"failure"`
	Error   *junitProblem `xml:"error"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// JUnit returns the report in the XML of CI systems: one suite, which took that long.
func (r *Report) JUnit(suite string, took time.Duration) ([]byte, error) {
	counts := junitCounts{Tests: len(r.Tests), Failures: r.Failed, Errors: r.Errors, Time: seconds(took)}
	s := junitSuite{Name: suite, junitCounts: counts}
	for _, t := range r.Tests {
		s.Cases = append(s.Cases, t.junit())
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	enc := xml.NewEncoder(&b)
	enc.Indent("", "  ")
	if err := enc.Encode(junitSuites{Name: "windlass", junitCounts: counts, Suites: []junitSuite{s}}); err != nil {
		return nil, fmt.Errorf("encode the report: %w", err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

func (r *Result) junit() junitCase {
	c := junitCase{Class: r.CascadeID, Name: r.Name, File: filepath.ToSlash(r.File), Time: seconds(r.took)}
	switch r.Status {
	case Errored:
		c.Error = &junitProblem{Message: r.Problem, Type: "error", Text: r.Problem}
	case Failed:
		c.Failure = &junitProblem{Message: r.Problem, Type: "mismatch", Text: r.Details()}
	}
	return c
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
