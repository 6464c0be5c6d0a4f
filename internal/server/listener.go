package server

import (
	"net"
	"sync"
)

// maxConnections is how many connections are open at once: more than twice as many as there may be
// event streams, and few enough to leave the process the files that its runs need.
const maxConnections = 640

// Limit returns a listener that accepts a connection only when there is room for it. Others wait in
// the system's queue.
func Limit(ln net.Listener) net.Listener { return limit(ln, maxConnections) }

func limit(ln net.Listener, n int) *limited {
	return &limited{Listener: ln, places: make(chan struct{}, n), closed: make(chan struct{})}
}

type limited struct {
	net.Listener
	places chan struct{} // one for each open connection
	closed chan struct{}
	once   sync.Once
}

// Accept implements net.Listener.
func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &placed{Conn: c, free: sync.OnceFunc(func() { <-l.places })}, nil
}

// Close implements net.Listener.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// placed is a connection that gives its place back.
type placed struct {
	net.Conn
	free func()
}

// Close implements net.Conn.
func (p *placed) Close() error {
	defer p.free()
	return p.Conn.Close()
}
