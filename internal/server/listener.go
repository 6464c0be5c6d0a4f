package server

import (
	"net"
	"sync"
)

// maxConnections is more than twice the event streams, and leaves files for the runs.
const maxConnections = 640

// Limit returns a listener that accepts so many connections at once; others wait in its queue.
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

func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type placed struct {
	net.Conn
	free func()
}

func (p *placed) Close() error {
	defer p.free()
	return p.Conn.Close()
}
