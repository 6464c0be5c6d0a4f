//go:build unix

package lab

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Server is a windlass serve that is running.
type Server struct {
	*World
	Address string
	Token   string
	TLS     bool

	cmd  *exec.Cmd
	mu   sync.Mutex
	said strings.Builder
}

var listening = regexp.MustCompile(`listening on https?://(\S+)/api`)

// Serve starts windlass serve on a free port of loopback. It ends with the test.
func (w *World) Serve(args ...string) *Server {
	w.T.Helper()
	return w.listen("serve", args)
}

// UI is [World.Serve] for windlass ui.
func (w *World) UI(args ...string) *Server {
	w.T.Helper()
	return w.listen("ui", args)
}

func (w *World) listen(command string, args []string) *Server {
	w.T.Helper()
	s := &Server{World: w, cmd: exec.CommandContext(context.Background(), w.Bin, append([]string{command, "--listen", "127.0.0.1:0"}, args...)...)}
	s.cmd.Dir, s.cmd.Env = w.Dir, w.Env
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: w.credential()}
	errs, err := s.cmd.StderrPipe()
	w.Must(err)
	w.Must(s.cmd.Start())
	found := make(chan string, 1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewReader(errs)
		for {
			line, err := lines.ReadString('\n')
			s.mu.Lock()
			s.said.WriteString(line)
			s.mu.Unlock()
			if m := listening.FindStringSubmatch(line); m != nil {
				found <- m[1]
			}
			if err != nil {
				return
			}
		}
	}()
	w.T.Cleanup(func() {
		_ = s.cmd.Process.Signal(os.Interrupt) // it may have ended
		<-read
		_ = s.cmd.Wait()
	})
	select {
	case s.Address = <-found:
	case <-read:
		w.T.Fatalf("windlass serve ended: %s", s.Said())
	case <-time.After(Bound):
		w.T.Fatalf("windlass serve does not listen: %s", s.Said())
	}
	return s
}

// PID returns the process of the server.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Said returns what the server has written to standard error.
func (s *Server) Said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.String()
}

// Send sends bytes as they are and returns all that comes back until the server closes, or has sent nothing for long.
func (s *Server) Send(t testing.TB, raw string) string {
	t.Helper()
	conn, err := (&net.Dialer{Timeout: Bound}).DialContext(t.Context(), "tcp", s.Address)
	if err != nil {
		t.Fatalf("connect to the server: %v", err)
	}
	defer conn.Close() //nolint:errcheck // what was to be read was read
	if s.TLS {
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) // it is the server of the attempt
	}
	_ = conn.SetDeadline(time.Now().Add(Bound)) // connections have deadlines
	go func() {
		_, _ = io.WriteString(conn, raw) // the server may have refused it already
	}()
	data, _ := io.ReadAll(conn) // the end of a connection says nothing of the answer
	return string(data)
}
