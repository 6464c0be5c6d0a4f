package cascade

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/internal/template"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// testKnown has some tools, and templates of which only one thing can be wrong.
func testKnown() Known {
	return Known{
		Tools: []string{"read_file", "list_files", "write_file", "recall", "search_context", "set_state", "get_state", "spawn_cascade", "ask_human", "ask_human_custom", "request_decision", "await_signal", "fire_signal", "memory", "scratchpad", "save_memo", "retrieve_memos", "edit_memo", "delete_memo"},
		CheckTemplate: func(_ TemplateKind, text string) *TemplateProblem {
			at := strings.Index(text, "{{ broken")
			if at < 0 {
				return nil
			}
			line := strings.Count(text[:at], "\n") + 1
			return &TemplateProblem{Line: line, Col: at - strings.LastIndexByte(text[:at], '\n'), Message: "broken", Hint: "mend it"}
		},
		Lookups: testLookups,
		Variables: Variables{
			Phase: map[string]any{
				"input": map[string]any{}, "state": map[string]any{}, "outputs": map[string]any{}, "env": map[string]any{}, "turn": 0,
				"validation_error": "", "history": []any{}, "session": map[string]any{"id": "", "work_dir": ""},
			},
			Validator: map[string]any{"input": map[string]any{}, "content": "", "original_input": map[string]any{}},
		},
		Arguments: func(name string, declared *Tool) json.RawMessage {
			switch {
			case declared != nil:
				return declared.InputsSchema.JSONSchema()
			case waiting.Asks(name) || name == waiting.ToolFire:
				return waiting.Spec(name).Parameters
			case name == "recall":
				return json.RawMessage(`{"type":"object","additionalProperties":false,"required":["hash"],"properties":{"hash":{},"offset":{}}}`)
			}
			return nil
		},
		Refused: func(tool string, _ map[string]json.RawMessage) string {
			if tool == "write_file" {
				return "grant it"
			}
			return ""
		},
		Resolve: testResolve,
	}
}

// otherCascades are those that the cascades of tests reach.
var otherCascades = map[string]string{
	"child.json": `{"cascade_id": "child", "inputs_schema": {"topic": "what about"}, "phases": [{"name": "a", "instructions": "{{ input.topic }}"}]}`,
	"closed": `{"cascade_id": "closed", "inputs_schema": {"type": "object", "required": ["id"], "additionalProperties": false,
		"properties": {"id": {"type": "integer"}, "note": {"type": "string"}}}, "phases": [{"name": "a", "instructions": "x"}]}`,
	"judge":             `{"cascade_id": "judge", "inputs_schema": {"content": "what to judge"}, "phases": [{"name": "a", "instructions": "{{ input.content }}"}]}`,
	"flows/recall.json": `{"cascade_id": "recall", "inputs_schema": {"topic": "what about"}, "phases": [{"name": "a", "instructions": "{{ input.topic }}"}]}`,
	"flows/route.json":  `{"cascade_id": "route to", "inputs_schema": {"topic": "what about"}, "phases": [{"name": "a", "instructions": "{{ input.topic }}"}]}`,
	"mute":              `{"cascade_id": "mute", "phases": [{"name": "a", "instructions": "x"}]}`,
}

func testResolve(ref string) (*Reached, *Problem) {
	text := otherCascades[ref]
	switch {
	case ref == "child":
		text = otherCascades["child.json"]
	case ref == "broken":
		return nil, &Problem{Message: "broken.json has 1 error", Hint: "mend it first", Found: Diagnostics{{
			Severity: SeverityError, Code: CodeUnknownKey, File: "broken.json", Line: 1, Col: 2, EndCol: 5, SourceCol: 1, Message: "unknown key", Source: "{ x }",
		}}}
	case text == "":
		return nil, &Problem{NotFound: true, Message: fmt.Sprintf("no cascade is called %q", ref), Hint: "the folders that were read: cascades/"}
	}
	known := testKnown()
	known.Resolve = nil
	c, _, err := Parse(ref, []byte(text), known)
	if err != nil {
		panic(err)
	}
	return &Reached{File: ref, Cascade: c}, nil
}

// testLookups reads templates as those of a text.
func testLookups(_ TemplateKind, text string) []Lookup {
	t, err := template.Parse(text)
	if err != nil {
		return nil
	}
	var out []Lookup
	for _, l := range t.Lookups() {
		out = append(out, Lookup{Line: l.Line, Col: l.Col, Path: l.Path, Safe: l.Safe, Perhaps: l.Perhaps})
	}
	return out
}

// diff compares what two cascades say.
func diff(a, b *Cascade) string { return cmp.Diff(a, b, cmpopts.IgnoreUnexported(Cascade{})) }

// show writes diagnostics as the golden files hold them.
func show(found Diagnostics) string {
	var b strings.Builder
	for _, d := range found {
		text, carets := source.Snippet{
			Line: d.Line, Col: d.Col - d.SourceCol + 1, EndCol: d.EndCol - d.SourceCol + 1, Source: d.Source,
		}.Lines()
		fmt.Fprintf(&b, "%s\n%s\n%s\n", d, text, carets)
		if d.Hint != "" {
			fmt.Fprintf(&b, "hint: %s\n", d.Hint)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func checkGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if differs := cmp.Diff(string(want), got); differs != "" {
		t.Errorf("%s differs from what is reported now (-want +got); if that is right: go test -update\n%s", path, differs)
	}
}

// There is a file for every code, named after it, some with a word behind a dash. The golden file
// has everything that is reported.
func TestDiagnostics(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/invalid/*.*")
	require.NoError(t, err)
	for _, path := range files {
		if strings.HasSuffix(path, ".golden") {
			continue
		}
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			_, found, _ := Parse(name, data, testKnown())
			checkGolden(t, path+".golden", show(found))
			code, _, _ := strings.Cut(strings.TrimSuffix(name, filepath.Ext(name)), "_yaml")
			code, _, _ = strings.Cut(code, "-")
			if code == "ten" || code == "ten_twin" {
				return
			}
			has := false
			for _, d := range found {
				has = has || d.Code == Code(code)
			}
			require.True(t, has, "the code %s is not among what is reported", code)
		})
	}
}

// TestEveryCodeHasAFile reads the codes from the source, so that a new one cannot be forgotten.
func TestEveryCodeHasAFile(t *testing.T) {
	t.Parallel()
	elsewhere := map[string]string{"too_large": "TestTooLarge", "tool_file_overridden": "TestToolFiles"}
	codes := codesHaveFiles(t, "document/diagnostic.go", elsewhere)
	require.Greater(t, codes, 25)
}

func codesHaveFiles(t *testing.T, name string, elsewhere map[string]string) (codes int) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || fmt.Sprint(spec.Type) != "Code" {
			return true
		}
		code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		require.NoError(t, err)
		codes++
		if elsewhere[code] == "" {
			matches, err := filepath.Glob("testdata/invalid/" + code + ".json")
			require.NoError(t, err)
			require.NotEmpty(t, matches, "no file for the code %s", code)
		}
		return true
	})
	return codes
}

// The JSON and YAML twins have the same ten mistakes in the same order.
func TestTenMistakes(t *testing.T) {
	t.Parallel()
	var messages [2][]string
	for i, name := range []string{"ten.json", "ten_twin.yaml"} {
		data, err := os.ReadFile("testdata/invalid/" + name)
		require.NoError(t, err)
		c, found, err := Parse(name, data, testKnown())
		require.Nil(t, c)
		var invalid *InvalidError
		require.ErrorAs(t, err, &invalid)
		for _, d := range found {
			if d.Severity == SeverityError {
				messages[i] = append(messages[i], string(d.Code))
			}
		}
	}
	require.ElementsMatch(t, messages[0], messages[1])
	require.GreaterOrEqual(t, len(messages[0]), 10)
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "big.json")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat(" ", source.MaxBytes+1)), 0o600))
	_, found, err := Load(path, Known{})
	require.Error(t, err)
	require.Equal(t, CodeTooLarge, found[0].Code)
}

func TestManyMistakesAreBounded(t *testing.T) {
	t.Parallel()
	data := `{"cascade_id": "x", "phases": [` + strings.Repeat(`{"a": 1},`, 5000) + `{}]}`
	_, found, err := Parse("x.json", []byte(data), Known{})
	require.Error(t, err)
	require.Len(t, found, document.MaxFound)
	require.LessOrEqual(t, len([]rune(found[500].Source)), document.MaxSource)
	require.Contains(t, found[500].Source[found[500].Col-found[500].SourceCol:], "{")
}

// TestWarningsHideNoError has more warnings than are taken before the one error.
func TestWarningsHideNoError(t *testing.T) {
	t.Parallel()
	data := `{"cascade_id": "x", "phases": [{"name": "a", "instructions": "x", "tackle": ["read_file"` + strings.Repeat(`, "read_file"`, 5000) + `, "none"]}]}`
	_, found, err := Parse("x.json", []byte(data), testKnown())
	require.Error(t, err)
	errs, warnings := found.Count()
	require.Equal(t, 1, errs)
	require.Equal(t, document.MaxWarned, warnings)
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, _, err := Load(filepath.Join(dir, "none.json"), Known{})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, _, err = Load(dir, Known{})
	require.ErrorContains(t, err, "is a folder, not a file")
	_, _, err = Parse("x.json", []byte(`{"cascade_id": 5, "phases": 5}`), Known{})
	require.EqualError(t, err, `x.json:1:16: error: "cascade_id": expected string, got integer [wrong_type] (and 1 more error)`)
	require.False(t, errors.Is(err, os.ErrNotExist))
}

func TestLoadSound(t *testing.T) {
	t.Parallel()
	json := `{"$schema": "x", "cascade_id": "x", "inputs_schema": {"type": "about what kind"}, "tools": [
		{"tool_id": "t", "type": "shell", "command": "ls", "timeout": "1m30s"}],
	 "phases": [
		{"name": "a", "instructions": "x", "tools": ["t"], "handoffs": "b", "rules": {"max_turns": 2.0}, "callouts": "out"},
		{"name": "b", "instructions": "x", "context": {"from": "prev"}, "on_error": {"instructions": "y", "on_error": {"instructions": "z"}}},
		{"name": "c", "tool": "t", "timeout": 1.5, "routing": {"ok": "a"}}]}`
	yaml := `
cascade_id: x
$schema: x
inputs_schema: {type: about what kind}
tools: [{tool_id: t, type: shell, command: ls, timeout: 90}]
phases:
  - name: a
    instructions: x
    tackle: [t]
    handoffs: [{target: b}]
    rules: {max_turns: 2}
    callouts: {output: out}
  - {name: b, instructions: x, context: {from: [{phase: previous}]}, on_error: {instructions: y, on_error: {instructions: z}}}
  - {name: c, tool: t, timeout: 1500ms, routing: {ok: a}}
`
	c, found, err := Parse("x.json", []byte(json), Known{})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, CodeUnreachablePhase, found[0].Code)
	twin, _, err := Parse("x.yaml", []byte(yaml), Known{})
	require.NoError(t, err)
	require.Empty(t, diff(c, twin))

	require.Equal(t, map[string]string{"type": "about what kind"}, c.InputsSchema.Names)
	require.Equal(t, []string{"t"}, c.Phases[0].Tackle)
	require.Equal(t, []Handoff{{Target: "b"}}, c.Phases[0].Handoffs)
	require.Equal(t, 2, c.Phases[0].Rules.MaxTurns)
	require.Equal(t, "out", c.Phases[0].Callouts.Output)
	require.Equal(t, FromPrevious, c.Phases[1].Context.From[0].Phase)
	require.Equal(t, "b_on_error", c.Phases[1].OnError.Inline.Name)
	require.Equal(t, "b_on_error_on_error", c.Phases[1].OnError.Inline.OnError.Inline.Name)
	require.Equal(t, "1.5s", c.Phases[2].Timeout.String())
}

func TestToolFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	main := write("c.json", `{"cascade_id": "x", "tools": [{"tool_id": "own", "type": "shell", "command": "a"}],
 "phases": [{"name": "a", "instructions": "x", "tackle": ["own", "beside"]}]}`)
	write("own.tool.json", `{"tool_id": "own", "type": "shell", "command": "b"}`)
	write("beside.tool.json", `{"tool_id": "beside", "type": "shell", "command": "c"}`)
	write("other.json", `not read`)

	c, found, err := Load(main, testKnown())
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, CodeToolFileOverridden, found[0].Code)
	require.Equal(t, SeverityWarning, found[0].Severity)
	require.Equal(t, main, found[0].File)
	require.Len(t, c.Tools, 2)
	require.Equal(t, "a", c.Tools[0].Command)
	require.Equal(t, "beside", c.Tools[1].ToolID)

	broken := write("beside.tool.json", "{\"tool_id\": \"beside\",\n \"type\": \"shell\", \"comand\": \"c\"}")
	again := write("zz.tool.json", `{"tool_id": "read_file", "type": "http", "url": "https://x"}`)
	_, found, err = Load(main, testKnown())
	require.Error(t, err)
	var got []string
	for _, d := range found {
		got = append(got, fmt.Sprintf("%s:%d:%d %s", d.File, d.Line, d.Col, d.Code))
	}
	require.Equal(t, []string{
		main + ":1:43 tool_file_overridden", broken + ":2:19 unknown_key", again + ":1:13 shadows_builtin",
	}, got)
}

// A cascade and its tool files are read from a file system; no link is followed out of a root.
func TestLoadFS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inside := filepath.Join(dir, "inside", "sub")
	require.NoError(t, os.MkdirAll(inside, 0o700))
	write := func(path, text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	cascadeText := `{"cascade_id": "c", "phases": [{"name": "one", "tool": "beside"}]}`
	write(filepath.Join(inside, "c.json"), cascadeText)
	write(filepath.Join(inside, "beside.tool.json"), `{"tool_id": "beside", "type": "shell", "command": "true"}`)
	write(filepath.Join(dir, "outside.json"), `{"cascade_id": "outside", "phases": [{"name": "one", "instructions": "x"}]}`)
	write(filepath.Join(dir, "outside.tool.json"), `{"tool_id": "far", "type": "shell", "command": "true"}`)
	root, err := os.OpenRoot(filepath.Join(dir, "inside"))
	require.NoError(t, err)
	defer root.Close() //nolint:errcheck // only read from

	c, found, err := LoadFS(t.Context(), root.FS(), "sub/c.json", Known{})
	require.NoError(t, err)
	require.Empty(t, found)
	require.Equal(t, "beside", c.Tools[0].ToolID)
	same, _, err := Load(filepath.Join(inside, "c.json"), Known{})
	require.NoError(t, err)
	require.Equal(t, same, c)

	require.NoError(t, os.Symlink("../../outside.json", filepath.Join(inside, "link.json")))
	_, _, err = LoadFS(t.Context(), root.FS(), "sub/link.json", Known{})
	require.ErrorContains(t, err, "escapes")
	require.NoError(t, os.Symlink("../../outside.tool.json", filepath.Join(inside, "far.tool.json")))
	c, _, err = LoadFS(t.Context(), root.FS(), "sub/c.json", Known{})
	require.NoError(t, err)
	require.Len(t, c.Tools, 1, "a tool file that lies outside is none")
	_, _, err = LoadFS(t.Context(), root.FS(), "sub/none.json", Known{})
	require.ErrorIs(t, err, os.ErrNotExist)
}
