package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/schema"
)

// block is a fenced block of a page.
type block struct {
	info string // what stands after the fence
	text string
	line int
}

var fence = regexp.MustCompile("(?ms)^```([^\n`]+)\n(.*?)^```$")

func blocksOf(t *testing.T, page string) []block {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../docs", page))
	require.NoError(t, err)
	var out []block
	for _, m := range fence.FindAllSubmatchIndex(data, -1) {
		out = append(out, block{
			info: string(data[m[2]:m[3]]), text: string(data[m[4]:m[5]]), line: strings.Count(string(data[:m[4]]), "\n") + 1,
		})
	}
	return out
}

// TestDocumentedCascades loads the examples of the pages: none has even a warning.
func TestDocumentedCascades(t *testing.T) {
	t.Parallel()
	n := 0
	for _, b := range slices.Concat(blocksOf(t, "cascade.md"), blocksOf(t, "models.md"), blocksOf(t, "soundings.md"), blocksOf(t, "people.md"), blocksOf(t, "memory.md")) {
		language, kind, _ := strings.Cut(b.info, " ")
		if kind != "cascade" {
			continue
		}
		n++
		t.Run(fmt.Sprintf("line %d", b.line), func(t *testing.T) {
			t.Parallel()
			_, found, err := cascade.Parse("cascade.md."+language, []byte(b.text), app.Known())
			require.NoError(t, err)
			require.Empty(t, found)
		})
	}
	require.Greater(t, n, 7)
}

// TestLanguagePageIsComplete looks for every key of the schema and every code in the page.
func TestLanguagePageIsComplete(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/cascade.md")
	require.NoError(t, err)
	page := string(data)
	mentioned := func(word string) bool {
		return regexp.MustCompile("`[^`\n]*\\b" + regexp.QuoteMeta(strings.TrimPrefix(word, "$")) + "\\b[^`\n]*`").MatchString(page)
	}
	type object struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	var doc struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(schema.CascadeJSON(), &doc))
	doc.Defs["Cascade"] = doc.object
	for name, def := range doc.Defs {
		for key := range def.Properties {
			require.True(t, mentioned(key), "docs/cascade.md says nothing about the key %s of %s", key, name)
		}
	}
	codes, err := os.ReadFile("../../cascade/document/diagnostic.go")
	require.NoError(t, err)
	found := regexp.MustCompile(`Code = "([a-z0-9_]+)"`).FindAllSubmatch(codes, -1)
	require.Greater(t, len(found), 25)
	for _, m := range append(found, [][]byte{nil, []byte(app.CodeInvalidScript)}) {
		require.True(t, mentioned(string(m[1])), "docs/cascade.md says nothing about the code %s", m[1])
	}
	for _, tool := range app.Known().Tools {
		require.True(t, mentioned(tool), "docs/cascade.md says nothing about the tool %s", tool)
	}
}

// TestEditorSnippets checks that what the page says to write is valid and leads to the schema.
func TestEditorSnippets(t *testing.T) {
	t.Parallel()
	urls := 0
	for _, b := range blocksOf(t, "editor.md") {
		if b.info == "json" {
			require.True(t, json.Valid([]byte(b.text)), "line %d of editor.md is not valid JSON", b.line)
		}
		base := "../../docs" // A relative $schema is as from the page's own folder; settings are as from the project's.
		if strings.Contains(b.text, "json.schemas") {
			base = "../.."
		} else {
			_, found, err := cascade.Parse("editor.md."+b.info, []byte(b.text), app.Known())
			require.NoError(t, err)
			require.Empty(t, found)
		}
		for _, url := range regexp.MustCompile(`[./]+schema/cascade\.schema\.json`).FindAllString(b.text, -1) {
			urls++
			data, err := os.ReadFile(filepath.Join(base, url))
			require.NoError(t, err)
			require.Equal(t, string(schema.CascadeJSON()), string(data))
		}
	}
	require.Equal(t, 4, urls)
}
