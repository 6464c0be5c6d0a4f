//go:build unix

package attack

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/windlass-run/windlass/e2e/lab"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
)

// engine is about the port of the embedded engine, which every program of the machine can reach: nobody logs in but who has
// windlass's password, and who has it reaches nothing but tables.
func engine() group {
	return group{
		name: "engine",
		mutant: mutant{"the one session of the engine's own user", []lab.Edit{{
			File: "internal/clickhouse/embedded/config.go",
			Old:  "      <max_sessions_for_user>1</max_sessions_for_user>\n",
			New:  "",
		}}},
		attempts: func(t *testing.T, bin string) []attempt {
			s := staged(t, bin)
			e := s.Engine()
			var out []attempt
			for i, user := range users {
				for _, password := range []string{"", "x"} {
					out = append(out, attempt{numbered(i, "login as "+strconv.Quote(user[:min(len(user), 40)])+" with the password "+strconv.Quote(password)), func(*lab.World) error {
						if err := login(e, user, password); err == nil {
							return errorf("%q is let in", user)
						}
						return s.untouched(nil)
					}})
				}
			}
			for i, door := range doors {
				if reachesOut(door) {
					out = append(out, attempt{numbered(i, "as windlass: "+door), func(*lab.World) error { return s.asWindlass(e, door) }})
				}
			}
			for i, bytes := range noProtocol {
				out = append(out, attempt{numbered(i, "no protocol: "+clip(strconv.Quote(bytes[:min(len(bytes), 40)]))), func(*lab.World) error { return s.noise(e, bytes) }})
			}
			return append(append(out, s.kept(e)...), flooding(bin))
		},
	}
}

// users are names that could lead to one without a password.
var users = []string{
	"default", "", "Default", "default ", " default", "DEFAULT", "default\x00", "`default`", "windlass", "windlass_readonly", "reader", "reader0", "reader1", "reader2", "root", "admin", "system", "' OR 1=1 --",
	" INTERSERVER SECRET ", " SSH KEY AUTHENTICATION default", " JWT AUTHENTICATION ", " JWT AUTHENTICATION default", "default\r\n", strings.Repeat("a", 100_000),
}

// reachesOut reports whether a statement leads out of ClickHouse, which nobody may, or only changes what is in it.
func reachesOut(door string) bool {
	if strings.Contains(door, "OUTFILE") {
		return false // it is the client that writes it
	}
	for _, word := range []string{"{secret}", "{made}", "{server}", "{engine}", "/etc/passwd", "id'", "SYSTEM ", "CREATE USER", "CREATE FUNCTION", "NAMED COLLECTION", "GRANT", "ALTER USER", "BACKUP", "RESTORE"} {
		if strings.Contains(door, word) {
			return true
		}
	}
	return false
}

func connect(e embedded.Endpoint, user, password string) (clickhouse.Conn, error) {
	return clickhouse.Open(&clickhouse.Options{Addr: []string{e.Addr()}, Auth: clickhouse.Auth{Username: user, Password: password}, DialTimeout: lab.Bound, ReadTimeout: lab.Bound, MaxOpenConns: 1})
}

func login(e embedded.Endpoint, user, password string) error {
	c, err := connect(e, user, password)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // it was tried
	return c.Ping(context.Background())
}

// asWindlass sends a statement past windlass, as its own user.
func (s *stage) asWindlass(e embedded.Endpoint, door string) error {
	c, err := connect(e, e.User, e.Password)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // it was tried
	if err := c.Ping(context.Background()); err != nil {
		return errorf("windlass's own user cannot log in: %w", err)
	}
	rows, err := c.Query(context.Background(), s.fill(door))
	if err == nil {
		var shown string
		for rows.Next() {
			if rows.Scan(&shown) == nil {
				return errorf("it shows %q", clip(shown))
			}
		}
		err = errors.Join(rows.Err(), rows.Close())
	}
	if err == nil {
		return errorf("it was done: %s", door)
	}
	return s.untouched(nil)
}

var noProtocol = []string{
	"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST /?query=SELECT+1 HTTP/1.0\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + strings.Repeat("\x00", 600), "PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n\x00", "\x00" + strings.Repeat("\xff", 9) + "\x7f",
	"\x00\xff\xff\xff\xff\x0f" + strings.Repeat("a", 1<<20), strings.Repeat("\x00", 1<<20), "\x01\x00", "\x02", "\x04", "\x08" + strings.Repeat("\x00", 64), "\x00\x01a\x1a\x02\xb2\xa9\x03\x00\x07default\x00", strings.Repeat("\x00\x01a\x01\x01\x01\x00\x07default\x00", 1000), "SSH-2.0-x\r\n",
}

// noise sends what is no protocol of ClickHouse, and looks whether the engine is there afterwards.
func (s *stage) noise(e embedded.Endpoint, bytes string) error {
	conn, err := net.DialTimeout("tcp", e.Addr(), lab.Bound)
	if err != nil {
		return err
	}
	defer conn.Close()                                    //nolint:errcheck // it was tried
	_ = conn.SetDeadline(time.Now().Add(2 * time.Second)) // who says nothing has refused
	_, _ = io.WriteString(conn, bytes)
	answer, _ := io.ReadAll(io.LimitReader(conn, 1<<20))
	if strings.Contains(string(answer), e.Password) || strings.Contains(string(answer), lab.Canary) {
		return errorf("the answer shows a secret: %q", answer)
	}
	if err := login(e, e.User, e.Password); err != nil {
		return errorf("afterwards the engine does not answer: %w", err)
	}
	return nil
}

// kept are checks of what the engine leaves on the machine.
func (s *stage) kept(e embedded.Endpoint) []attempt {
	private := func(name string, most os.FileMode) attempt {
		return attempt{"others read " + name, func(*lab.World) error {
			info, err := os.Stat(filepath.Join(s.EngineDir(), name))
			if err != nil {
				return err
			}
			if info.Mode().Perm()&^most != 0 {
				return errorf("%s has the mode %s", name, info.Mode())
			}
			return nil
		}}
	}
	without := func(name, path string) attempt {
		return attempt{"the password in " + name, func(*lab.World) error {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if strings.Contains(string(data), e.Password) {
				return errorf("%s has the password", name)
			}
			return nil
		}}
	}
	out := []attempt{private(".", 0o700), private("endpoint.json", 0o600), private("users.xml", 0o600), private("config.xml", 0o600), private("data", 0o700), without("users.xml", filepath.Join(s.EngineDir(), "users.xml"))}
	return append(out, without("the log", filepath.Join(s.EngineDir(), "engine.log")),
		attempt{"the environment of ClickHouse", func(*lab.World) error {
			c, err := connect(e, e.User, e.Password)
			if err != nil {
				return err
			}
			defer c.Close() //nolint:errcheck // it was tried
			var shown string
			if err := c.QueryRow(context.Background(), "SELECT file('/proc/self/environ')").Scan(&shown); err != nil {
				return nil // it was refused
			}
			for v := range strings.SplitSeq(strings.TrimSuffix(shown, "\x00"), "\x00") {
				if name, _, _ := strings.Cut(v, "="); !slices.Contains([]string{"HOME", "PATH", "TZ"}, name) {
					return errorf("it has the variable %s", name)
				}
			}
			return nil
		}},
		attempt{"listening where the engine does", func(*lab.World) error {
			l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", e.Addr())
			if err == nil {
				_ = l.Close()
				return errorf("another listens on %s", e.Addr())
			}
			return nil
		}},
		attempt{"the key of a model in the engine", func(*lab.World) error {
			data, err := os.ReadFile("/proc/" + strconv.Itoa(e.PID) + "/environ")
			if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrPermission) {
				return err
			}
			if strings.Contains(string(data), lab.Key) || strings.Contains(string(data), e.Password) {
				return errorf("the environment of the engine has a secret")
			}
			return nil
		}},
	)
}

// flooding logs in as the engine's own user again and again from before its port opens.
func flooding(bin string) attempt {
	return attempt{"logins from before the port opens", func(w *lab.World) error {
		s := lab.NewWithEngine(w.T, bin)
		ctx, cancel := context.WithCancel(context.Background())
		var in, tried atomic.Int64
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for ctx.Err() == nil {
					text, err := os.ReadFile(filepath.Join(s.EngineDir(), "config.xml"))
					_, rest, _ := strings.Cut(string(text), "<tcp_port>")
					port, _, ok := strings.Cut(rest, "</tcp_port>")
					number, _ := strconv.Atoi(port)
					if err != nil || !ok {
						continue
					}
					if login(embedded.Endpoint{Host: "127.0.0.1", Port: number}, "default", "") == nil {
						in.Add(1)
					}
					tried.Add(1)
				}
			})
		}
		s.Engine()
		const least = 300
		for tried.Load() < least && in.Load() == 0 && ctx.Err() == nil {
			s.Engine()
		}
		cancel()
		wg.Wait()
		if n := in.Load(); n > 0 {
			return errorf("%d of %d logins were let in", n, tried.Load())
		}
		return nil
	}}
}
