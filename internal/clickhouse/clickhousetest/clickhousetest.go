// Package clickhousetest gives tests a real ClickHouse, with a database for each test: one embedded
// engine for all packages, or the server of WINDLASS_TEST_DSN. Without an engine tests fail.
package clickhousetest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/config"
)

const (
	dsnEnv = "WINDLASS_TEST_DSN"
	prefix = "windlass_test_"
	maxAge = time.Hour // after which a database of a killed test run is dropped
)

// Main runs a test package. TestMain must call it, because the engine process is the test binary:
//
//	func TestMain(m *testing.M) { os.Exit(clickhousetest.Main(m)) }
func Main(m *testing.M) int {
	if args := os.Args[1:]; embedded.IsServe(args) {
		return embedded.Serve(args)
	}
	return m.Run()
}

// Home returns the home folder of the engine of all tests, and the cache folder around it.
func Home(t testing.TB) (home, cache string) {
	t.Helper()
	cache, err := config.CacheDir()
	if err != nil {
		t.Fatalf("find the cache folder: %v", err)
	}
	return filepath.Join(cache, "test-home"), cache
}

// Options returns how to open a new database, which is dropped when the test ends.
func Options(t testing.TB) clickhouse.Options {
	t.Helper()
	home, cache := Home(t)
	o := clickhouse.Options{DSN: os.Getenv(dsnEnv), Home: home, CacheDir: cache, Database: databaseName()}
	t.Cleanup(func() { drop(t, o) })
	return o
}

// Open returns a new database, which is closed and dropped when the test ends.
func Open(t testing.TB) *clickhouse.DB {
	t.Helper()
	db, err := clickhouse.Open(t.Context(), Options(t))
	if err != nil {
		t.Fatalf("open a ClickHouse for the test: %v", err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close the test's ClickHouse: %v", err)
		}
	})
	return db
}

// databaseName holds the time of its making, by which leftovers of killed tests are known.
func databaseName() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return fmt.Sprintf("%s%d_%s", prefix, time.Now().Unix(), hex.EncodeToString(b[:]))
}

// drop deletes the test's database, whatever the test has made of it, and those that killed tests left.
func drop(t testing.TB, o clickhouse.Options) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	gone := []string{o.Database}
	db, err := clickhouse.Open(ctx, o)
	var older *clickhouse.OldSchemaError
	var newer *clickhouse.NewerSchemaError
	if errors.As(err, &older) || errors.As(err, &newer) { // it is dropped through another one
		o.Database = databaseName()
		gone = append(gone, o.Database)
		db, err = clickhouse.Open(ctx, o)
	}
	if err != nil {
		t.Errorf("open ClickHouse to drop the test's database: %v", err)
		return
	}
	defer func() { _ = db.Close() }()
	names, err := Databases(ctx, db)
	if err != nil {
		t.Errorf("list databases: %v", err)
	}
	for _, name := range names {
		if !slices.Contains(gone, name) && !isLeftover(name, time.Now()) {
			continue
		}
		if err := Drop(ctx, db, name); err != nil {
			t.Errorf("drop the database %s: %v", name, err)
		}
	}
}

// Cards returns the store of cards in a database, which stays the caller's to close.
func Cards(db *clickhouse.DB) *clickhouse.Cards {
	return clickhouse.NewCards(func(context.Context) (*clickhouse.DB, error) { return clickhouse.Share(db), nil })
}

// Drop deletes a database with everything in it, if it exists.
func Drop(ctx context.Context, db *clickhouse.DB, name string) error {
	drop := "DROP DATABASE IF EXISTS `" + name + "`"
	if u, err := url.Parse(os.Getenv(dsnEnv)); err == nil && u.Query().Has("cluster") {
		drop += " ON CLUSTER `" + u.Query().Get("cluster") + "`"
	}
	rows, err := db.Query(ctx, drop+" SYNC", clickhouse.QueryOptions{Write: true})
	if err != nil {
		return fmt.Errorf("drop database %q: %w", name, err)
	}
	return rows.Close()
}

// Insert delivers the entries of sessions, each session in the order of its entries.
func Insert(ctx context.Context, db *clickhouse.DB, entries []*echo.Entry) error {
	sessions := map[string][]*echo.Entry{}
	for _, e := range entries {
		sessions[e.SessionID] = append(sessions[e.SessionID], e)
	}
	for _, id := range slices.Sorted(maps.Keys(sessions)) {
		open := func(context.Context) (*clickhouse.DB, error) { return clickhouse.Share(db), nil }
		sink := clickhouse.NewSink(open, clickhouse.SinkOptions{})
		for _, e := range sessions[id] {
			if err := sink.Write(e); err != nil {
				return err
			}
		}
		if err := sink.Close(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Databases returns the names of the databases that there are.
func Databases(ctx context.Context, db *clickhouse.DB) (names []string, err error) {
	rows, err := db.Query(ctx, "SELECT name FROM system.databases ORDER BY name", clickhouse.QueryOptions{Write: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		row, err := rows.Row()
		if err != nil {
			return nil, err
		}
		names = append(names, row[0].String())
	}
	return names, nil
}

func isLeftover(name string, now time.Time) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return false
	}
	stamp, _, _ := strings.Cut(rest, "_")
	made, err := strconv.ParseInt(stamp, 10, 64)
	return err == nil && now.Sub(time.Unix(made, 0)) > maxAge
}

// DSN returns a data source name of db's own database, as a server's user would write it.
func DSN(t testing.TB, db *clickhouse.DB) string {
	t.Helper()
	if e := db.Endpoint(); e != nil {
		u := url.URL{Scheme: "clickhouse", User: url.UserPassword(e.User, e.Password), Host: e.Addr(), Path: "/" + db.Database()}
		return u.String()
	}
	u, err := url.Parse(os.Getenv(dsnEnv))
	if err != nil {
		t.Fatalf("read %s: it is not a URL", dsnEnv)
	}
	u.Path = "/" + db.Database()
	return u.String()
}
