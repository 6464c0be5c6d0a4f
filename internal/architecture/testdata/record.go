// Package fixture does what the rules of the record forbid, and what looks like it.
package fixture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/windlass-run/windlass/echo"
)

type wrapped struct{ *echo.Entry }

type other struct{ Data json.RawMessage }

var entry = echo.Entry{Data: json.RawMessage(`{}`)} // want data

func data(e *echo.Entry, w wrapped, o other) {
	var d struct{ Status string }
	_ = json.Unmarshal(e.Data, &d) // want data
	_ = len(w.Data)                // want data
	e.Data = nil                   // want data
	alias := &e.Data               // want data
	_ = alias

	_ = json.Unmarshal(o.Data, &d)
	_, _ = echo.Read[echo.RunEnd](e)
	e.Set(echo.RunEnd{})
	_, _ = json.Marshal(e)
}

var turn = regexp.MustCompile(`turn(\d+)`)

func keys(k, parent echo.Key) {
	_ = strings.Split(k.String(), "/")                         // want strings.Split
	_, _, _ = strings.Cut(string([]byte(k.String())), "/")     // want strings.Cut
	_ = strings.HasPrefix("x", k.From(parent))                 // want strings.HasPrefix
	_ = turn.FindStringSubmatch(k.String())                    // want (*regexp.Regexp).FindStringSubmatch
	_, _ = regexp.MatchString("x", k.VisitKey().String())      // want regexp.MatchString
	_ = k.String()[1:]                                         // want a slice
	_ = k.String()[0]                                          // want an index
	_ = path.Base(fmt.Sprint(k))                               // want path.Base
	_, _ = fmt.Sscanf(fmt.Sprintf("%s", k), "%s", new(string)) // want fmt.Sscanf
	for range k.String() {                                     // want a loop
	}
	text := k.String()
	again := text
	_ = strings.TrimSuffix(again, "/end") // want strings.TrimSuffix
	declared, b := k.String(), []byte(again)
	_ = strings.Index(declared, "/") // want strings.Index
	_ = bytes.HasSuffix(b, nil)      // want bytes.HasSuffix
	if later := ""; later == "" {
		later = text
		func() { _ = strings.Fields(later) }() // want strings.Fields
	}
}

func fine(k echo.Key) string {
	p := k.Path()
	_ = strings.HasPrefix(p.Phase, "x")
	_ = k == echo.RunKey() || k.String() == "run"
	_ = strings.Join([]string{k.String(), "x"}, " ")
	_ = strings.Compare(k.String(), "x")
	_ = strings.TrimSpace("at " + p.Phase)
	seen := map[string]bool{k.String(): true}
	_ = seen[k.String()]
	_ = fmt.Sprintf("%s: %s", k, strings.ToUpper("x"))[1:]
	return "visit " + k.String()
}
