package page

import (
	"bytes"
	"encoding/json"
	"html/template"
	"reflect"
	"strings"
	"time"

	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/quantity"
)

var funcs = template.FuncMap{
	"clean": clean,
	"span":  span,
	"stamp": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"when":  func(t time.Time) string { return t.Local().Format("2 January 2006 15:04:05") },
	"money": money,
	"style": style,
	"warns": warns,
	"grouped": func(n any) string {
		v := reflect.ValueOf(n)
		if v.CanUint() {
			return quantity.Grouped(int64(v.Uint()))
		}
		return quantity.Grouped(v.Int())
	},
	"seq": func(n int) []int {
		out := make([]int, n)
		for i := range out {
			out[i] = i + 1
		}
		return out
	},
}

// clean returns a text without what a browser shows as nothing or uses to show others in another order.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\u200d' || r == '\ufe0f': // which join and colour emoji
			return r
		case waiting.IsHidden(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// span says how long something takes in its largest unit.
func span(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return quantity.Of(int(d/time.Second), "second")
	case d < time.Hour:
		return quantity.Of(int(d/time.Minute), "minute")
	case d < 48*time.Hour:
		return quantity.Of(int(d/time.Hour), "hour")
	}
	return quantity.Of(int(d/(24*time.Hour)), "day")
}

func money(usd *float64) string {
	if usd == nil {
		return "not known"
	}
	return quantity.USD(*usd)
}

// jsonOf returns a value that came from JSON as JSON again.
func jsonOf(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSpace(b.Bytes())
}

// style returns what the page knows of how something is to look.
func style(s string) string {
	switch s {
	case "danger", "critical":
		return "danger"
	case "warning", "success":
		return s
	}
	return ""
}

// warns returns the word for an option that somebody should think twice about, "" for others: its colour alone says
// nothing to those who do not see it.
func warns(s string) string {
	if s = style(s); s == "danger" || s == "warning" {
		return s
	}
	return ""
}
