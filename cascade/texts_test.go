package cascade

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/files"
)

func writeFiles(t *testing.T, dir string, texts map[string]string) {
	t.Helper()
	for name, text := range texts {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
}

// The text of a template that names a file is the file's, and part of the cascade from then on.
func TestTemplatesInFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"flows/c.yaml": `cascade_id: c
validators: {fair: {instructions: "@prompts/judge.j2"}}
phases:
  - name: a
    instructions: "@prompts/a.j2"
    rules: {turn_prompt: "@turn.j2", max_turns: 2, loop_until: fair, max_attempts: 2, retry_instructions: "@me"}
  - {name: b, instructions: "@a mention is no file"}
`,
		"flows/prompts/a.j2": "Write about {{ input.topic }}.\n",
		"prompts/judge.j2":   "Is it fair? {{ content }}",
		"turn.j2":            "Go on.",
		"flows/turn.j2":      "Go on, beside the file.",
		"me":                 "@next",
	})
	known := testKnown()
	known.Project = dir
	c, found, err := Load(filepath.Join(dir, "flows", "c.yaml"), known)
	require.NoError(t, err)
	require.Empty(t, found)
	require.Equal(t, "Write about {{ input.topic }}.\n", c.Phases[0].Instructions)
	require.Equal(t, "Go on, beside the file.", c.Phases[0].Rules.TurnPrompt)
	require.Equal(t, "@next", c.Phases[0].Rules.RetryInstructions, "what a file says is not read as a name")
	require.Equal(t, "Is it fair? {{ content }}", c.Validators["fair"].Instructions)
	require.Equal(t, "@a mention is no file", c.Phases[1].Instructions)
	again, _, err := LoadFS(t.Context(), os.DirFS(dir), "flows/c.yaml", func() Known { known.Project = "."; return known }())
	require.NoError(t, err)
	require.Empty(t, diff(c, again))
	require.Equal(t, []string{`missing input "topic": used without default by "instructions" of phase "a"`}, func() (out []string) {
		for _, v := range c.CheckInput(nil) {
			out = append(out, v.Message)
		}
		return out
	}())
}

// What is wrong with the text of a file is reported there, and what keeps it from being read where it
// is named.
func TestMistakesInFilesOfTemplates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"c.yaml": `cascade_id: c
phases:
  - {name: a, instructions: "@a.j2"}
  - {name: b, instructions: "@none.j2"}
  - {name: c, instructions: "@empty.j2"}
  - {name: d, instructions: "@large.j2"}
  - {name: e, instructions: "@."}
  - {name: f, instructions: "@latin.j2"}
  - {name: g, instructions: "@/etc/hostname"}
`,
		"a.j2":     "One\n  and {{ broken\n{{ outputs.z }}",
		"empty.j2": " \n",
		"latin.j2": "caf\xe9",
		"large.j2": strings.Repeat("x", files.MaxText+1),
	})
	known := testKnown()
	known.Project = filepath.Join(dir, "project")
	_, found, err := Load(filepath.Join(dir, "c.yaml"), known)
	require.Error(t, err)
	var got []string
	for _, d := range found {
		got = append(got, strings.ReplaceAll(strings.ReplaceAll(d.String(), dir+string(filepath.Separator), ""), dir, "DIR"))
	}
	require.Equal(t, []string{
		`c.yaml:4:29: error: "instructions" of phase "b" is the text of the file "none.j2", which cannot be read: there is no such file [unknown_file]`,
		`c.yaml:5:29: error: "instructions" of phase "c" is the text of the file "empty.j2", which cannot be read: it is empty [unknown_file]`,
		`c.yaml:6:29: error: "instructions" of phase "d" is the text of the file "large.j2", which cannot be read: it has more than 1 MiB [unknown_file]`,
		`c.yaml:7:29: error: "instructions" of phase "e" is the text of the file ".", which cannot be read: DIR is a folder, not a file [unknown_file]`,
		`c.yaml:9:29: error: "instructions" of phase "g" is the text of the file "/etc/hostname", which cannot be read: its path does not begin at the folder of the cascade [unknown_file]`,
		`a.j2:2:7: error: the template does not parse: broken [invalid_template]`,
		`latin.j2:1:4: error: invalid UTF-8: the byte 0xE9 is part of no character [encoding]`,
	}, got)
	require.Equal(t, "it is looked for in "+dir+" and "+filepath.Join(dir, "project"), found[0].Hint)
}

// Nothing outside of a root becomes a part of a cascade.
func TestFilesOfTemplatesStayInTheirRoot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"secret":      "a secret",
		"in/c.json":   `{"cascade_id": "c", "phases": [{"name": "a", "instructions": "@../secret"}, {"name": "b", "instructions": "@link"}]}`,
		"in/note.txt": "x",
	})
	require.NoError(t, os.Symlink("../secret", filepath.Join(dir, "in", "link")))
	root, err := os.OpenRoot(filepath.Join(dir, "in"))
	require.NoError(t, err)
	defer root.Close() //nolint:errcheck // only read from
	_, found, err := LoadFS(t.Context(), root.FS(), "c.json", testKnown())
	require.Error(t, err)
	require.Len(t, found, 2)
	for _, d := range found {
		require.Equal(t, CodeUnknownFile, d.Code)
		require.NotContains(t, d.Message, "a secret")
	}
}
