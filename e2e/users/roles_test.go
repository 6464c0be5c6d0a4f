//go:build linux

package users

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// roles are what another user tries. Each reads its input as JSON and writes what it came to.
var roles = map[string]func(io.Reader, io.Writer) error{
	"read": playing(readAll), "write": playing(writeAll), "processes": playing(look), "login": playing(logins), "flood": playing(flood), "take": playing(take), "ask": playing(ask), "connect": playing(connect),
}

func playing[I, O any](role func(I) O) func(io.Reader, io.Writer) error {
	return func(r io.Reader, w io.Writer) error {
		var in I
		if err := json.NewDecoder(r).Decode(&in); err != nil {
			return err
		}
		return json.NewEncoder(w).Encode(role(in))
	}
}

// readAll returns the files below folders that can be read, and the folders that can be listed.
func readAll(folders []string) []string {
	out := []string{}
	for _, folder := range folders {
		_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return fs.SkipDir
			case d.IsDir():
				if _, err := os.ReadDir(path); err == nil {
					out = append(out, path+"/")
				}
			case d.Type().IsRegular():
				if f, err := os.Open(path); err == nil {
					out = append(out, path)
					_ = f.Close()
				}
			}
			return nil
		})
	}
	return out
}

// writeAll returns the paths that could be written, made or taken away.
func writeAll(paths []string) []string {
	out := []string{}
	for _, path := range paths {
		if f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666); err == nil {
			out = append(out, "written: "+path)
			_ = f.Close()
		}
		if os.Rename(path, path+".moved") == nil {
			out = append(out, "moved: "+path)
		}
		if os.Symlink("/tmp", filepath.Join(path, "link")) == nil {
			out = append(out, "made in: "+path)
		}
	}
	return out
}

// spied is a process to look into, and what must not be found there.
type spied struct {
	PIDs    []int
	Secrets []string
	Signal  bool // try to end it, too
}

// look returns what of processes shows a secret, or can be got at.
func look(s spied) []string {
	out := []string{}
	for _, pid := range s.PIDs {
		dir := "/proc/" + strconv.Itoa(pid)
		for _, name := range []string{"environ", "cmdline", "comm", "stat", "status", "maps", "auxv", "io", "mountinfo", "syscall", "stack", "wchan"} {
			data, _ := os.ReadFile(filepath.Join(dir, name)) // what cannot be read shows nothing
			for _, secret := range s.Secrets {
				if strings.Contains(string(data), secret) {
					out = append(out, fmt.Sprintf("%s/%s has a secret", dir, name))
				}
			}
		}
		if _, err := os.Open(filepath.Join(dir, "mem")); err == nil {
			out = append(out, dir+"/mem can be opened")
		}
		for _, name := range []string{"cwd", "exe", "root", "fd/0", "fd/1", "fd/3"} {
			if _, err := os.Readlink(filepath.Join(dir, name)); err == nil && name != "exe" {
				out = append(out, dir+"/"+name+" can be followed")
			}
		}
		if _, _, errno := syscall.RawSyscall(syscall.SYS_PTRACE, 0x4206 /* PTRACE_SEIZE */, uintptr(pid), 0); errno == 0 {
			out = append(out, dir+" can be traced")
		}
		if s.Signal && syscall.Kill(pid, syscall.SIGTERM) == nil {
			out = append(out, dir+" can be ended")
		}
	}
	return out
}

// attempts are logins at a port.
type attempts struct {
	Addr  string
	Users []string
	TLS   bool
}

// logins returns the users that were let in.
func logins(a attempts) []string {
	out := []string{}
	for _, user := range a.Users {
		for _, password := range []string{"", user, "x", "default", "windlass"} {
			if login(a.Addr, user, password, a.TLS) == nil {
				out = append(out, fmt.Sprintf("%q with the password %q", user, password))
			}
		}
	}
	return out
}

func login(addr, user, password string, secure bool) error {
	o := &clickhouse.Options{Addr: []string{addr}, Auth: clickhouse.Auth{Username: user, Password: password}, DialTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, MaxOpenConns: 1}
	if secure {
		o.TLS = &tls.Config{InsecureSkipVerify: true} // it is the attacker's
	}
	c, err := clickhouse.Open(o)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // it was tried
	return c.Ping(context.Background())
}

// flooded says how many logins were tried, and how many let in.
type flooded struct{ Tried, In int64 }

// flood finds every port of loopback that a user listens on, from when there is none, and logs in there as the user
// without a password, at least so often, until the file stop is there.
func flood(in struct {
	UID   int
	Least int64
	Stop  string
},
) flooded {
	var f struct{ tried, in atomic.Int64 }
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for {
				if _, err := os.Stat(in.Stop); err == nil && f.tried.Load() >= in.Least {
					return
				}
				for _, port := range portsOf(in.UID) {
					if login(net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), "default", "", false) == nil {
						f.in.Add(1)
					}
					f.tried.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return flooded{f.tried.Load(), f.in.Load()}
}

// portsOf reads the ports that a user listens on, as everybody may.
func portsOf(uid int) []int {
	f, err := os.Open("/proc/net/tcp")
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // only read from
	var out []int
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		const listening = "0A"
		if len(fields) < 8 || fields[3] != listening || fields[7] != strconv.Itoa(uid) {
			continue
		}
		_, port, _ := strings.Cut(fields[1], ":")
		if b, err := hex.DecodeString(port); err == nil && len(b) == 2 {
			out = append(out, int(b[0])<<8|int(b[1]))
		}
	}
	return out
}

// take listens on addresses until the file stop is there, and returns what it was sent, and where it could listen.
func take(in struct {
	Addrs []string
	Stop  string
},
) []string {
	out := []string{}
	var mu sync.Mutex
	for _, addr := range in.Addrs {
		l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", addr)
		if err != nil {
			continue
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_ = c.SetDeadline(time.Now().Add(5 * time.Second)) // connections have deadlines
				data, _ := io.ReadAll(io.LimitReader(c, 1<<16))
				mu.Lock()
				out = append(out, string(data))
				mu.Unlock()
				_ = c.Close()
			}
		}()
	}
	for {
		if _, err := os.Stat(in.Stop); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond) // it is another process that makes the file
	}
	mu.Lock()
	defer mu.Unlock()
	return append([]string{}, out...)
}

// ask sends requests and returns their statuses.
func ask(urls []string) []int {
	out := []int{}
	for _, u := range urls {
		method, address, _ := strings.Cut(u, " ")
		req, err := http.NewRequest(method, address, nil)
		if err != nil {
			out = append(out, 0)
			continue
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			out = append(out, 0)
			continue
		}
		_ = resp.Body.Close() // only the status is looked at
		out = append(out, resp.StatusCode)
	}
	return out
}

// connect returns the sockets of files that it could connect to.
func connect(paths []string) []string {
	out := []string{}
	for _, path := range paths {
		if c, err := net.DialTimeout("unix", path, 5*time.Second); err == nil {
			out = append(out, path)
			_ = c.Close()
		}
	}
	return out
}
