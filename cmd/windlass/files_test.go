package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// noClickHouse is the DSN of a lab whose runs keep the journal only.
const noClickHouse = "clickhouse://127.0.0.1:1/none"

// meter is a cascade that reads a photo, with a PDF if there is one, and reads it again.
const meter = `{"cascade_id": "meter", "model": "eyes",
  "inputs_schema": {"type": "object", "required": ["photo"], "properties": {
    "photo": {"type": "string", "format": "image"}, "paper": {"type": "string", "format": "pdf"}, "unit": {"type": "string"}}},
  "phases": [
    {"name": "read", "instructions": "Read {{ input.photo }}{% if input.paper is defined %} by {{ input.paper }}{% endif %}."},
    {"name": "unit", "instructions": "In {{ input.unit | default(\"kWh\") }}?", "context": {"from": "read"}},
    {"name": "again", "instructions": "Again: {{ input.photo }}"}]}`

var (
	png = "\x89PNG\r\n\x1a\n" + strings.Repeat("pixel", 6_000)
	pdf = "%PDF-1.7\n" + strings.Repeat("page ", 12_000)
)

// Of both, what stands for them, and what providers are sent.
const (
	pngMarker = "[image photo: image/png, 30 KB, sha256 19f7a275bebe3b7c]"
	pdfMarker = "[file paper: application/pdf, 60 KB, sha256 2973dcd4de853465]"
)

func dataURL(mediaType, data string) string {
	return "data:" + mediaType + ";base64," + base64.StdEncoding.EncodeToString([]byte(data))
}

// eyesLab has a model that takes images and fails while broken is set.
func eyesLab(t *testing.T, dsn string) (l *lab, server *llmtest.Server, broken *atomic.Bool) {
	t.Helper()
	broken = &atomic.Bool{}
	server = llmtest.Start(llmtest.Config{Key: testKey, Answer: func(r llmtest.Request) *llmtest.Answer {
		if broken.Load() && strings.HasPrefix(r.Messages[len(r.Messages)-1].Text(), "Again") {
			return &llmtest.Answer{Raw: "<html>"}
		}
		return &llmtest.Answer{Text: "42"}
	}})
	t.Cleanup(server.Close)
	l = newLab(t, dsn)
	l.env = append(l.env, "OPENAI_BASE_URL="+server.URL)
	l.file("windlass.json", `{"models": {"eyes": {"max_retries": 0}, "blind": {"images": false}}}`)
	l.file("meter.json", meter)
	l.file("x.png", png)
	l.file("paper", pdf)
	return l, server, broken
}

func lastBody(s *llmtest.Server) string {
	all := s.Requests()
	return string(all[len(all)-1].Raw)
}

// "--input photo=@x.png and PDFs as inputs": the exact wire form, and a run whose files are deleted is
// resumed, forked and verified.
func TestFileInputs(t *testing.T) {
	t.Parallel()
	l, server, broken := eyesLab(t, noClickHouse)
	broken.Store(true)
	l.run(exitProvider, "run", "meter.json", "--session", "s", "-q", "--no-clickhouse", "--input", "photo=@x.png", "--input", "paper=@paper")
	require.NoError(t, server.Refused())
	image := fmt.Sprintf(`{"image_url":{"url":%q},"type":"image_url"}`, dataURL("image/png", png))
	first := server.Requests()[0]
	require.True(t, string(first.Raw) == `{"model":"eyes","stream":true,"stream_options":{"include_usage":true},"messages":[{"content":[`+
		`{"text":"Read `+pngMarker+` by `+pdfMarker+`.","type":"text"},`+
		fmt.Sprintf(`{"file":{"file_data":%q,"filename":"paper.pdf"},"type":"file"},`, dataURL("application/pdf", pdf))+
		image+`],"role":"user"}]}`, "the first request is %.400s", first.Raw)
	require.NotContains(t, string(server.Requests()[1].Raw), "base64", "a phase that does not use the input is not sent the file")

	require.NoError(t, os.Remove(filepath.Join(l.dir, "x.png")))
	require.NoError(t, os.Remove(filepath.Join(l.dir, "paper")))
	broken.Store(false)
	l.run(exitOK, "resume", "s", "-q")
	again := `"messages":[{"content":[{"text":"Again: ` + pngMarker + `","type":"text"},` + image + `],"role":"user"}]`
	require.True(t, strings.Contains(lastBody(server), again))
	for _, at := range []string{"1", "2", "again", "read"} {
		asked := len(server.Requests())
		l.run(exitOK, "resume", "s", "--fork", at, "--session", "fork-"+at, "-q")
		require.Greater(t, len(server.Requests()), asked)
		require.True(t, strings.Contains(lastBody(server), again), at)
	}
	require.NoError(t, server.Refused())
	for _, session := range []string{"s", "fork-1", "fork-2", "fork-again", "fork-read"} {
		require.Contains(t, l.run(exitOK, "verify", session).out.String(), "holds")
	}
}

// "context show lists the part as a marker".
func TestFilesAreShownByName(t *testing.T) {
	t.Parallel()
	l, _, _ := eyesLab(t, noClickHouse)
	l.run(exitOK, "run", "meter.json", "--session", "s", "-q", "--no-clickhouse", "--input", "photo=@x.png", "--input", "paper=@paper")
	out := l.run(exitOK, "context", "show", "s", "--call", "1").out.String()
	require.Contains(t, out, "Read "+pngMarker+" by "+pdfMarker+".\n[file paper.pdf: application/pdf, 60 KB, sha256 2973dcd4de853465]\n[image: image/png, 30 KB, sha256 19f7a275bebe3b7c]\n")
	require.Contains(t, out, "  4,837 tokens  ")
	require.NotContains(t, out, "base64")
	require.NotContains(t, l.run(exitOK, "show", "s").out.String(), "base64")
	require.Equal(t, 3, strings.Count(l.journalOf("s"), base64.StdEncoding.EncodeToString([]byte(png))), "the file, and each message that has it")
}

func (l *lab) journalOf(session string) string {
	l.t.Helper()
	data, err := os.ReadFile(filepath.Join(l.home, "sessions", session, "journal.jsonl"))
	require.NoError(l.t, err)
	return string(data)
}

// "hostile files are refused with the path", "limits of size": nothing is sent, and no session begins.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	l, server, _ := eyesLab(t, noClickHouse)
	for name, data := range map[string]string{
		"empty.png": "", "short.png": "\x89PNG\r\n\x1a\n\x00\x00", "cut.png": "\x89PN", "text.png": "a text\n", "renamed.png": pdf, "secret.pdf": pdf + testKey,
		"bmp": "BM" + strings.Repeat("x", 100), "gif.txt": "GIF89b" + strings.Repeat("x", 100),
	} {
		l.file(name, data)
	}
	l.file("large.png", png+strings.Repeat("x", 10<<20))
	l.file("six.png", png+strings.Repeat("x", 9<<20))
	l.file("nine.pdf", pdf+strings.Repeat("x", 9<<20))
	require.NoError(t, os.Mkdir(filepath.Join(l.dir, "folder"), 0o700))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(l.dir, "dangling.png")))
	for _, tt := range []struct{ given, want string }{
		{"photo=@empty.png", "--input photo: empty.png is empty"},
		{"photo=@short.png", "--input photo: short.png is cut off: it ends within the head of a file of type image/png"},
		{"photo=@cut.png", "--input photo: cut.png is cut off: it ends within the head of a file of type image/png"},
		{"photo=@text.png", "--input photo: text.png is no image: its first bytes are those of no png, jpeg, gif, webp or pdf"},
		{"photo=@bmp", "--input photo: bmp is no image: its first bytes are those of no png, jpeg, gif, webp or pdf"},
		{"photo=@gif.txt", "--input photo: gif.txt is no image: its first bytes are those of no png, jpeg, gif, webp or pdf"},
		{"photo=@renamed.png", `--input photo: renamed.png is of type application/pdf, and the input "photo" takes images (png, jpeg, gif, webp)`},
		{"paper=@x.png", `--input paper: x.png is of type image/png, and the input "paper" takes PDFs`},
		{"photo=@large.png", "--input photo: large.png has more than 10 MiB, the limit of a file that is an input"},
		{"photo=@folder", "--input photo: folder is a folder, not a file"},
		{"photo=@/dev/zero", "--input photo: /dev/zero is a device, not a file: it may never end"},
		{"photo=@nowhere.png", "--input photo: open nowhere.png: no such file or directory"},
		{"photo=@dangling.png", "--input photo: open dangling.png: no such file or directory"},
		{"photo=x.png", "--input photo=x.png: the input takes a file: expected photo=@FILE"},
		{"paper=@secret.pdf", `the file of the input "paper" has the value of a known secret: it is neither sent nor recorded`},
	} {
		p := l.run(exitUsage, "run", "meter.json", "--no-clickhouse", "--input", "photo=@x.png", "--input", tt.given)
		require.Contains(t, p.err.String(), "Error: "+tt.want+"\n", tt.given)
		require.NotContains(t, p.err.String(), testKey)
	}
	p := l.run(exitUsage, "run", "meter.json", "--no-clickhouse", "--input-json", `{"photo": "x.png"}`)
	require.Contains(t, p.err.String(), "Error: the input \"photo\" takes a file (images (png, jpeg, gif, webp)), not a value\nTry: windlass run FILE --input photo=@PATH\n")
	l.file("three.json", strings.Replace(meter, `"unit": {"type": "string"}`, `"unit": {"type": "string", "format": "file"}`, 1))
	p = l.run(exitUsage, "run", "three.json", "--no-clickhouse", "--input", "photo=@six.png", "--input", "paper=@nine.pdf", "--input", "unit=@six.png")
	require.Contains(t, p.err.String(), "Error: --input unit: with six.png, the files of the run have more than 20 MiB together\nTry: windlass run three.json --no-clickhouse --input paper=@FILE --input photo=@FILE --input unit=@FILE\n")
	require.Empty(t, server.Requests())
	_, err := os.Stat(filepath.Join(l.home, "sessions"))
	require.ErrorIs(t, err, os.ErrNotExist)

	require.NoError(t, os.Symlink("x.png", filepath.Join(l.dir, "link")))
	l.run(exitOK, "run", "meter.json", "-q", "--no-clickhouse", "--input", "photo=@link")
	require.Contains(t, string(server.Requests()[0].Raw), pngMarker, "a link is followed, as that of any path that a person names")
}

// "a model that is known to take no images": an error before anything is sent. Otherwise the provider's
// error is shown.
func TestBlindModels(t *testing.T) {
	t.Parallel()
	l, server, _ := eyesLab(t, noClickHouse)
	for args, want := range map[string]string{
		"again=blind":               `phase "again" sends the input "photo" (image/png) to blind, which is known to take texts only`,
		"read=deepseek/deepseek-r1": `phase "read" sends the input "photo" (image/png) to deepseek/deepseek-r1, which is known to take texts only`,
	} {
		p := l.run(exitUsage, "run", "meter.json", "--no-clickhouse", "--input", "photo=@x.png", "--model", args)
		phase, _, _ := strings.Cut(args, "=")
		require.Contains(t, p.err.String(), "Error: "+want+"\nTry: another model, as --model "+phase+"=MODEL; \"images\": true of the model in windlass.json says that it takes them\n")
	}
	require.Empty(t, server.Requests())
	l.run(exitOK, "run", "meter.json", "-q", "--no-clickhouse", "--input", "photo=@x.png", "--model", "unit=blind")
	require.Contains(t, l.run(exitOK, "models", "deepseek-r1").out.String(), "  images           none: it takes texts only\n")
	l.file("windlass.json", `{"models": {"deepseek-r1": {"images": true}}}`)
	require.NotContains(t, l.run(exitOK, "models", "deepseek-r1").out.String(), "  images  ")
	l.run(exitOK, "run", "meter.json", "-q", "--no-clickhouse", "--input", "photo=@x.png", "--model", "deepseek-r1")
}

// "validate knows it", "text as today": what is declared otherwise is a text, whatever it begins with.
func TestFileInputsAreDeclared(t *testing.T) {
	t.Parallel()
	l, server, _ := eyesLab(t, noClickHouse)
	l.run(exitOK, "validate", "meter.json")
	l.file("bad.json", `{"cascade_id": "bad", "model": "eyes", "inputs_schema": {"type": "object", "properties": {
  "n": {"type": "integer", "format": "image"}, "my photo": {"type": "string", "format": "pdf"},
  "deep": {"type": "object", "properties": {"x": {"type": "string", "format": "file"}}}}},
  "phases": [{"name": "a", "instructions": "{{ input.n }}"}]}`)
	p := l.run(exitInvalid, "validate", "bad.json")
	seen := p.out.String() + p.err.String()
	for _, want := range []string{
		`the input "n" is a file, which templates see as a text: its type is "string"`,
		`the input "my photo" is a file, and its name has other characters than letters, digits, dashes and underscores, or more than 64`,
		`the format "file" makes only an input itself a file, not a member of one`,
	} {
		require.Contains(t, seen, want)
	}
	l.file("text.json", `{"cascade_id": "text", "model": "eyes", "inputs_schema": {"handle": "who"}, "phases": [{"name": "a", "instructions": "Greet {{ input.handle }}."}]}`)
	l.run(exitOK, "run", "text.json", "-q", "--no-clickhouse", "--input", "handle=@x.png")
	require.Contains(t, lastBody(server), `{"content":"Greet @x.png.","role":"user"}`)
	l.file("whole.json", strings.NewReplacer("{{ input.photo }}", "it", "{{ input.paper }}", "it", "{% if input.paper is defined %}", "", "{% endif %}", "").Replace(meter))
	l.run(exitOK, "run", "whole.json", "-q", "--no-clickhouse", "--input", "photo=@x.png")
	require.True(t, bytes.Contains(server.Requests()[1].Raw, []byte(dataURL("image/png", png))), "the input is added below the instructions, with the file")
}

// "redaction": a file is gone from journal, commit log and ClickHouse with any message that has it; the
// session holds, and goes on without it. A session that is rebuilt elsewhere has its files.
func TestRedactedFileIsNowhere(t *testing.T) {
	t.Parallel()
	l, server, broken := eyesLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)))
	broken.Store(true)
	l.run(exitProvider, "run", "meter.json", "--session", "s", "-q", "--input", "photo=@x.png", "--input", "paper=@paper")
	secret := base64.StdEncoding.EncodeToString([]byte(png))[:64]
	require.NotEmpty(t, l.places(secret))
	l.run(exitOK, "sessions", "redact", "s", l.hashOf("s", "run/input/photo"))
	require.Empty(t, l.places(secret))
	require.NotEmpty(t, l.places(base64.StdEncoding.EncodeToString([]byte(pdf))[:64]), "the other file stays")
	require.Contains(t, l.run(exitOK, "verify", "s").out.String(), "holds")
	broken.Store(false)
	l.run(exitOK, "resume", "s", "-q")
	require.NoError(t, server.Refused())
	require.NotContains(t, lastBody(server), "image_url")
	require.True(t, bytes.Contains(server.Requests()[0].Raw, []byte(secret)))
}

// A session that is made again from ClickHouse on another machine has its files.
func TestFilesElsewhere(t *testing.T) {
	t.Parallel()
	l, server, broken := eyesLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)))
	broken.Store(true)
	l.run(exitProvider, "run", "meter.json", "--session", "there", "-q", "--input", "photo=@x.png", "--input", "paper=@paper")
	recorded := l.journalOf("there")
	l.home = filepath.Join(l.dir, "here")
	l.env = append(l.env, "WINDLASS_HOME="+l.home)
	require.Contains(t, l.run(exitOK, "verify", "there").out.String(), "holds")
	require.True(t, recorded == l.journalOf("there"))
	broken.Store(false)
	l.run(exitOK, "resume", "there", "-q")
	require.True(t, strings.Contains(lastBody(server), dataURL("image/png", png)))
}

// A process that dies before the copy of a file is recorded has sent nothing: the session can only be
// started again. One whose file is another than that of its input does not hold.
func TestFilesOfASessionThatDiedAtOnce(t *testing.T) {
	t.Parallel()
	l, server, _ := eyesLab(t, noClickHouse)
	l.run(exitOK, "run", "meter.json", "--session", "s", "-q", "--no-clickhouse", "--input", "photo=@x.png")
	asked := len(server.Requests())
	lines := strings.SplitAfter(l.journalOf("s"), "\n")
	path := filepath.Join(l.home, "sessions", "s", "journal.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines[:2], "")), 0o600))
	require.Contains(t, l.run(exitOK, "verify", "s").out.String(), "holds")
	p := l.run(exitFailed, "resume", "s", "-q")
	require.Contains(t, p.err.String(), `the session has no copy of the file of the input "photo": it was stopped before the copy was recorded; start it again`)
	require.Len(t, server.Requests(), asked)
}

// A frozen test of a session with files has what stands for them, and passes.
func TestFrozenFiles(t *testing.T) {
	t.Parallel()
	l, _, _ := eyesLab(t, noClickHouse)
	l.run(exitOK, "run", "meter.json", "--session", "s", "-q", "--no-clickhouse", "--input", "photo=@x.png")
	l.run(exitOK, "test", "freeze", "s", "--name", "reads")
	l.run(exitOK, "test", "run", "tests")
	frozen, err := os.ReadFile(filepath.Join(l.dir, "tests", "reads.test.json"))
	require.NoError(t, err)
	require.Contains(t, string(frozen), pngMarker)
	require.NotContains(t, string(frozen), "base64")
}
