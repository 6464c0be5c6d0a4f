package overview

import (
	"cmp"
	"html/template"
	"net/url"
	"strings"
	"time"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/quantity"
)

var funcs = template.FuncMap{
	"short":  short,
	"minute": func(t time.Time) string { return t.Local().Format("2006-01-02 15:04") },
	"usd":    quantity.USD,
	"share":  share,
	"amount": amount,
}

// most is how many bytes of a name are shown.
const most = 120

// short returns a name in one line that is short enough for a table.
func short(s string) string { return excerpt.Line(s, most) }

// mostLink is how many bytes a value of an address may have.
const mostLink = 1000

// linkTo returns the address of the runs with one value, "" for one that is too long.
func linkTo(name, value string) string {
	if value == "" || len(value) > mostLink {
		return ""
	}
	return "/?" + url.Values{name: {value}}.Encode()
}

func pathOfSession(id string) string { return "/sessions/" + url.PathEscape(id) }

// share writes a share in percent, nil as nothing.
func share(v *float64) string {
	if v == nil {
		return ""
	}
	return quantity.Share(*v, 1)
}

// amount writes money that may not be known.
func amount(v *float64) string {
	if v == nil {
		return "unknown"
	}
	return quantity.USD(*v)
}

// cost writes what calls cost. A sum that lacks unknown costs is never written as if it were whole.
func cost(usd *float64, calls, unknown uint64) string {
	switch {
	case calls == 0:
		return ""
	case usd == nil:
		return "unknown"
	case unknown > 0:
		return quantity.USD(*usd) + " + unknown"
	}
	return quantity.USD(*usd)
}

func millis(ms float64) string {
	return quantity.Duration(time.Duration(ms * float64(time.Millisecond)))
}

// pretendNote says at whose prices pretended costs are; "" when there are none.
func pretendNote(models []string) string {
	if len(models) == 0 {
		return ""
	}
	return "Pretend: what the calls of scripts would have cost at prices of " + short(strings.Join(models, ", ")) + ". Nothing was paid, and no cost includes it."
}

func pretendOf(p clickhouse.Pretend) string {
	if p.PretendUSD == nil {
		return ""
	}
	return quantity.USD(*p.PretendUSD)
}

func tagName(tag string) string { return cmp.Or(tag, "(no tag)") }
