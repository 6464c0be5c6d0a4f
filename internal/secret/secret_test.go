package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/secret"
)

// values are secrets with everything that encodings treat in a way of their own.
var values = []string{
	"sk-proj-5f2c9e7a11d04b6f", "p@ss/wo+rd=?&#%;", `quo"te\back<tag>&'x'`, "correct horse battery", "späß-ünd-日本-🗝️", "12345678", `\\\\\\\\`, "a/b+c/d=",
}

// encodings are the ways in which a value may come back.
var encodings = map[string]func(string) string{
	"plain":            func(v string) string { return v },
	"path":             url.PathEscape,
	"query":            url.QueryEscape,
	"query, lower":     func(v string) string { return lowerEscapes(url.QueryEscape(v)) },
	"query, %20":       func(v string) string { return strings.ReplaceAll(url.QueryEscape(v), "+", "%20") },
	"every byte":       func(v string) string { return everyByte(v, "%%%02X") },
	"every byte lower": func(v string) string { return everyByte(v, "%%%02x") },
	"twice":            func(v string) string { return url.QueryEscape(url.QueryEscape(v)) },
	"JSON":             quoted,
	"JSON in JSON":     func(v string) string { return quoted(quoted(v)) },
	"Go":               func(v string) string { return strings.Trim(fmt.Sprintf("%+q", v), `"`) },
	"bytes of Go":      func(v string) string { return everyByte(v, `\x%02x`) },
	"HTML":             html.EscapeString,
	"base64":           func(v string) string { return base64.StdEncoding.EncodeToString([]byte(v)) },
	"base64 raw":       func(v string) string { return base64.RawStdEncoding.EncodeToString([]byte(v)) },
	"base64 url":       func(v string) string { return base64.URLEncoding.EncodeToString([]byte(v)) },
	"base64 url raw":   func(v string) string { return base64.RawURLEncoding.EncodeToString([]byte(v)) },
	"base64 of more":   func(v string) string { return base64.StdEncoding.EncodeToString([]byte("user:" + v + "!!")) },
	"base64 shifted":   func(v string) string { return base64.StdEncoding.EncodeToString([]byte("token=" + v)) },
	"base64 in JSON":   func(v string) string { return quoted(base64.StdEncoding.EncodeToString([]byte(v))) },
	"base64 in a URL":  func(v string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(v))) },
	"base64 in lines":  func(v string) string { return lines(base64.StdEncoding.EncodeToString([]byte(v))) },
	"hex":              func(v string) string { return hex.EncodeToString([]byte(v)) },
	"hex, upper":       func(v string) string { return strings.ToUpper(hex.EncodeToString([]byte(v))) },
}

func quoted(v string) string {
	b, _ := json.Marshal(v)
	return string(b[1 : len(b)-1])
}

func everyByte(v, format string) string {
	var b strings.Builder
	for i := range len(v) {
		fmt.Fprintf(&b, format, v[i])
	}
	return b.String()
}

func lowerEscapes(s string) string {
	b := []byte(s)
	for i := range b {
		if b[i] == '%' {
			copy(b[i:], strings.ToLower(s[i:i+3]))
		}
	}
	return string(b)
}

func lines(s string) string { return s[:5] + "\n" + s[5:] }

func TestTextFindsAValueInEveryEncoding(t *testing.T) {
	t.Parallel()
	for _, v := range values {
		set := secret.New(secret.Value{Name: "NAME", Value: v})
		for name, encode := range encodings {
			text := encode(v)
			require.Contains(t, set.Text("before "+text+" after"), "[value of NAME]", "%s of %q: %s", name, v, text)
			require.True(t, set.Has(text), "%s of %q", name, v)
			if !strings.HasPrefix(name, "base64") {
				require.Equal(t, "a=[value of NAME]&b", set.Text("a="+text+"&b"), "%s of %q: %s", name, v, text)
			}
			require.NotContains(t, set.Text(text), text, "%s of %q", name, v)
		}
	}
}

func TestTextLeavesTheRestAlone(t *testing.T) {
	t.Parallel()
	set := secret.New(secret.Value{Name: "A", Value: "sk-1234567890"}, secret.Value{Name: "B", Value: "short"}, secret.Value{Name: "C", Value: "clickhouse"})
	for _, text := range []string{
		"", "sk-123456789", "k-1234567890", "sk-123456789O", "short", "internal/clickhouse/open.go", `\`, "%", "&", "%4", `\u00`, "100%", "&amp;", "a\\",
		strings.Repeat("sk-12345678", 40),
	} {
		require.Equal(t, text, set.Text(text))
		require.False(t, set.Has(text))
	}
	require.Equal(t, "x", (*secret.Set)(nil).Text("x"))
	require.Empty(t, (*secret.Set)(nil).Values())
}

func TestTextTakesTheLongestOfSeveral(t *testing.T) {
	t.Parallel()
	set := secret.New(secret.Value{Name: "PART", Value: "abcdefgh"}, secret.Value{Name: "WHOLE", Value: "abcdefgh-ijkl"}, secret.Value{Name: "AGAIN", Value: "abcdefgh"})
	require.Equal(t, "[value of WHOLE] [value of PART]i [value of PART]", set.Text("abcdefgh-ijkl abcdefghi abcdefgh"))
}

// The parts of a text are the text again, and what is named of them is what Text replaces.
func TestParts(t *testing.T) {
	t.Parallel()
	for _, v := range values {
		set := secret.New(secret.Value{Name: "NAME", Value: v})
		for name, encode := range encodings {
			text := `\ & before ` + encode(v) + encode(v) + " after %"
			whole, masked := "", ""
			set.Parts(text, func(part, secret string) {
				whole += part
				if secret != "" {
					part = "[value of " + secret + "]"
				}
				masked += part
			})
			require.Equal(t, text, whole, name)
			require.Equal(t, set.Text(text), masked, name)
		}
	}
	(*secret.Set)(nil).Parts("x", func(part, secret string) { require.Equal(t, []string{"x", ""}, []string{part, secret}) })
}

func TestJSONStaysJSON(t *testing.T) {
	t.Parallel()
	for _, v := range values {
		set := secret.New(secret.Value{Name: "NAME", Value: v})
		raw, err := json.Marshal(map[string]any{"a": v, "b": []any{v + `x\`, 1.50, nil, `"` + v + `"`}, v: `x\`})
		require.NoError(t, err)
		clean := set.JSON(raw)
		require.True(t, json.Valid(clean), "%s", clean)
		require.JSONEq(t, `{"a": "[value of NAME]", "b": ["[value of NAME]x\\", 1.5, null, "\"[value of NAME]\""], "[value of NAME]": "x\\"}`, string(clean))
		require.Equal(t, `{"n": 1.50}`, string(set.JSON([]byte(`{"n": 1.50}`))))
		require.Equal(t, map[string]any{"a": []any{"[value of NAME]", 1}}, set.Any(map[string]any{"a": []any{v, 1}}))
	}
}

func TestStreamHoldsBackWhatMayBeASecret(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, v := range values {
		set := secret.New(secret.Value{Name: "NAME", Value: v}, secret.Value{Name: "OTHER", Value: "sk-proj-other-one"})
		for name, encode := range encodings {
			text := "Here: " + encode(v) + ", sk-proj, " + encode(v)[:3] + " and more."
			for range 20 {
				s := secret.Stream{Set: set}
				var out strings.Builder
				for rest := text; rest != ""; {
					n := 1 + random.IntN(min(5, len(rest)))
					piece := s.Next(rest[:n])
					require.False(t, set.Has(piece))
					out.WriteString(piece)
					rest = rest[n:]
				}
				out.WriteString(s.Rest())
				require.Equal(t, set.Text(text), out.String(), "%s of %q", name, v)
			}
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("p@ss/wo+rd=?&#%;", `\u0070%40&#115;s`)
	f.Fuzz(func(t *testing.T, value, text string) {
		set := secret.New(secret.Value{Name: "N", Value: value})
		clean := set.Text(text + value + text)
		if len(set.Values()) > 0 && strings.Contains(clean, value) && !strings.Contains(text+secret.Placeholder("N")+text, value) {
			t.Errorf("%q is in %q", value, clean)
		}
		s := secret.Stream{Set: set}
		if streamed := s.Next(text) + s.Next(value) + s.Next(text) + s.Rest(); streamed != clean {
			t.Errorf("streamed %q, whole %q", streamed, clean)
		}
		raw, _ := json.Marshal([]string{text, value + text})
		if !json.Valid(set.JSON(raw)) {
			t.Errorf("%s", set.JSON(raw))
		}
	})
}

// BenchmarkText has what a log of 4 MB takes, with ten secrets that it does not hold.
func BenchmarkText(b *testing.B) {
	var list []secret.Value
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 10 {
		v := make([]byte, 24)
		for j := range v {
			v[j] = byte(random.UintN(256))
		}
		list = append(list, secret.Value{Name: fmt.Sprint("NAME", i), Value: "sk-" + base64.RawURLEncoding.EncodeToString(v)})
	}
	set := secret.New(list...)
	for name, line := range map[string]string{
		"log":  `2026-01-02T03:04:05Z info request served path=/api/v1/items?q=a%20b&page=2 status=200 took=12ms` + "\n",
		"json": `{"at": "2026-01-02", "text": "{\"path\": \"C:\\\\a\", \"line\": \"x\\n\"}", "task": "sk and skill"}` + "\n",
	} {
		text := strings.Repeat(line, 4<<20/len(line))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if set.Text(text) != text {
					b.Fatal("found something")
				}
			}
		})
	}
}
