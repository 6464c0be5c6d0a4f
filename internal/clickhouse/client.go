package clickhouse

import (
	"cmp"
	"net"

	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
)

// Client is how another program than windlass reaches the database, without the password.
type Client struct {
	Host, Port, User, Database string

	PasswordFile string // JSON with the password as "password"; "": the person knows it
	Password     bool   // there is one
	Secure       bool   // by TLS
}

// ClientOf returns how another program reaches a database.
func ClientOf(db *DB) Client {
	o := db.target.options
	c := Client{User: cmp.Or(o.Auth.Username, "default"), Database: db.layout.database, Password: o.Auth.Password != "", Secure: o.TLS != nil}
	addr := ""
	if len(o.Addr) > 0 {
		addr = o.Addr[0]
	}
	if db.endpoint != nil {
		c.PasswordFile = embedded.EndpointPath(db.dir)
	}
	var err error
	if c.Host, c.Port, err = net.SplitHostPort(addr); err != nil {
		c.Host, c.Port = addr, "9000"
	}
	return c
}
