package snapshot

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"time"
)

// Result is a test that was run, as it is reported.
type Result struct {
	Name    string
	Cascade string
	File    string
	Took    time.Duration
	Failure string // in which way it came to something else, in one line; "": it did not
	Details string // of the failure
	Error   string // why it could not be run; "": it could
}

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

// JUnit writes results in the XML format that CI systems read: one suite, a test case for each. Time is what all took
// together.
func JUnit(suite string, results []Result, took time.Duration) ([]byte, error) {
	counts := junitCounts{Tests: len(results), Time: seconds(took)}
	s := junitSuite{Name: suite}
	for _, r := range results {
		c := junitCase{Class: r.Cascade, Name: r.Name, File: r.File, Time: seconds(r.Took)}
		switch {
		case r.Error != "":
			counts.Errors++
			c.Error = &junitProblem{Message: r.Error, Type: "error", Text: r.Error}
		case r.Failure != "":
			counts.Failures++
			c.Failure = &junitProblem{Message: r.Failure, Type: "mismatch", Text: r.Details}
		}
		s.Cases = append(s.Cases, c)
	}
	s.junitCounts = counts
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

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
