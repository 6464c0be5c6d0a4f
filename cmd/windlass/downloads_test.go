//go:build unix

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// downloads is a server with files to download, none of which is an engine.
type downloads struct {
	*httptest.Server
	begun atomic.Int64 // downloads
}

type downloadsKey struct{}

// bigBytes is more than what is downloaded unasked.
const bigBytes = 11_000_000

func startDownloads() *downloads {
	d := &downloads{}
	serve := func(size int, sent int, known bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if known {
				w.Header().Set("Content-Length", strconv.Itoa(size))
			}
			if r.Method == http.MethodHead {
				if !known {
					w.(http.Flusher).Flush() // else the server says that it is empty
				}
				return
			}
			d.begun.Add(1)
			_, _ = w.Write(make([]byte, sent)) // windlass may have gone away
		}
	}
	mux := http.NewServeMux()
	mux.Handle("/big", serve(bigBytes, bigBytes, true))
	mux.Handle("/small", serve(1_000_000, 1_000_000, true))
	mux.Handle("/unknown", serve(bigBytes, bigBytes, false))
	mux.Handle("/broken", serve(bigBytes, bigBytes/2, true))
	d.Server = httptest.NewServer(mux)
	return d
}

// env has the address of the server and the checksums of its files.
func (d *downloads) env() []string {
	sum := func(size int) string {
		s := sha256.Sum256(make([]byte, size))
		return hex.EncodeToString(s[:])
	}
	return []string{"DOWNLOADS=" + d.URL, "BIGSUM=" + sum(bigBytes), "SMALLSUM=" + sum(1_000_000)}
}

func scriptDownloaded(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: downloaded N")
	}
	if n := ts.Value(downloadsKey{}).(*downloads).begun.Load(); strconv.FormatInt(n, 10) != args[0] {
		ts.Fatalf("%d downloads were begun, want %s", n, args[0])
	}
}

// scriptTerminal runs a command on a terminal, where an answer is typed once TEXT is shown.
func scriptTerminal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: terminal CODE TEXT ANSWER COMMAND...")
	}
	bin, err := exec.LookPath(args[3])
	ts.Check(err)
	cmd := exec.Command(bin, args[4:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), scriptEnvironment(ts)
	tty, err := startOnTerminal(cmd, 200, 50)
	ts.Check(err)
	defer tty.Close() //nolint:errcheck // what was on it has been read
	answer, err := strconv.Unquote(`"` + args[2] + `"`)
	ts.Check(err)
	var shown bytes.Buffer
	buf := make([]byte, 1<<16)
	for typed := false; ; {
		n, err := tty.Read(buf)
		shown.Write(buf[:n])
		if err != nil { // the process has closed its side
			break
		}
		if !typed && bytes.Contains(shown.Bytes(), []byte(args[1])) {
			typed = true
			_, err := io.WriteString(tty, answer)
			ts.Check(err)
		}
	}
	code := 0
	if ended := new(exec.ExitError); errors.As(cmd.Wait(), &ended) {
		code = ended.ExitCode()
	}
	text := scrub(strings.ReplaceAll(shown.String(), "\r\n", "\n"), ts.Getenv("WORK"))
	ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), "screen"), []byte(text), 0o600))
	if want := args[0]; strconv.Itoa(code) != want {
		ts.Fatalf("exit code %d, want %s:\n%s", code, want, text)
	}
}

// scriptEnvironment returns the variables of a script.
func scriptEnvironment(ts *testscript.TestScript) (env []string) {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "WINDLASS_") && name != "HOME" && name != "PATH" && name != "TMPDIR" {
			env = append(env, v)
		}
	}
	for _, name := range []string{"HOME", "PATH", "TMPDIR", "WINDLASS_HOME", "WINDLASS_CACHE", "WINDLASS_CLICKHOUSE_DSN", "WINDLASS_EMBEDDING_MODEL", "WINDLASS_ENGINE_URL", "WINDLASS_ENGINE_SHA256", "OPENAI_BASE_URL", "OPENAI_API_KEY"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return append(env, "WINDLASS_PAGER=", "TERM=dumb", "TZ=UTC")
}
