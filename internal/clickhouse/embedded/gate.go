package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// maxSocketPath is the longest path of a socket that every system takes, in bytes.
const maxSocketPath = 100

// gate is the way to ClickHouse: a socket in a folder that only processes of this user can enter,
// whose connections lead to ClickHouse's port. Nobody else can listen there: see holdPort.
//
// The accept goroutine owns the listener; each connection has two goroutines, which end together.
// close ends them all and waits for them.
type gate struct {
	path     string // of the socket
	folder   string // made for the socket alone, where the engine's own path is too long; else empty
	port     string // ClickHouse's address
	listener *net.UnixListener
	deaf     chan struct{} // closed when ClickHouse's port does not answer any more
	once     sync.Once     // closes deaf
	wait     sync.WaitGroup

	mu     sync.Mutex
	open   map[net.Conn]struct{}
	served uint64 // connections so far
	closed bool
}

func openGate(ctx context.Context, dir, port string) (*gate, error) {
	g := &gate{path: filepath.Join(dir, socketFile), port: port, deaf: make(chan struct{}), open: map[net.Conn]struct{}{}}
	if len(g.path) > maxSocketPath {
		folder, err := os.MkdirTemp("", "windlass-") // 0700
		if err != nil {
			return nil, fmt.Errorf("make a folder for the engine's socket: %w", err)
		}
		g.folder, g.path = folder, filepath.Join(folder, socketFile)
	}
	_ = os.Remove(g.path) // what a killed engine left; the folder's lock is held
	l, err := new(net.ListenConfig).Listen(ctx, "unix", g.path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listen for windlass: %w", err), g.clean())
	}
	g.listener = l.(*net.UnixListener) //nolint:forcetypeassert // it listens on a unix socket
	if err := os.Chmod(g.path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("protect the engine's socket: %w", err), g.close())
	}
	g.wait.Go(g.accept)
	return g, nil
}

func (g *gate) accept() {
	for {
		c, err := g.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // of one connection, or of a process out of files: those there go on
			time.Sleep(lockPoll)
			continue
		}
		if checkPeer(c) != nil || !g.add(c) {
			_ = c.Close()
			continue
		}
		g.wait.Go(func() { g.lead(c) })
	}
}

func (g *gate) lead(client net.Conn) {
	defer g.remove(client)
	server, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(context.Background(), "tcp", g.port)
	if err != nil {
		g.once.Do(func() { close(g.deaf) })
		return
	}
	if !g.add(server) {
		_ = server.Close()
		return
	}
	defer g.remove(server)
	ended := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{client, server}, {server, client}} {
		g.wait.Go(func() {
			_, _ = io.Copy(pair[0], pair[1]) // an error is the end
			ended <- struct{}{}
		})
	}
	<-ended
}

func (g *gate) add(c net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.open[c] = struct{}{}
	g.served++
	return true
}

func (g *gate) remove(c net.Conn) {
	g.mu.Lock()
	delete(g.open, c)
	g.mu.Unlock()
	_ = c.Close()
}

// activity returns how many connections there are, and a number that grows with each that is made.
func (g *gate) activity() (open int, served uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.open), g.served
}

func (g *gate) close() error {
	err := g.listener.Close() // removes the socket
	g.mu.Lock()
	g.closed = true
	for c := range g.open {
		_ = c.Close()
	}
	g.mu.Unlock()
	g.wait.Wait()
	return errors.Join(err, g.clean())
}

func (g *gate) clean() error {
	if g.folder == "" {
		return nil
	}
	return os.RemoveAll(g.folder)
}
