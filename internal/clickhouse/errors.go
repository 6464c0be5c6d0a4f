package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strings"

	driver "github.com/ClickHouse/clickhouse-go/v2"
)

// The error codes of ClickHouse that callers branch on.
const (
	codeUnknownTable     = 60
	codeUnknownDatabase  = 81
	codeNoFile           = 107 // FILE_DOESNT_EXIST: a view was replaced that gets a comment
	codeTableIsDropped   = 218
	codeTableIsRenamed   = 517 // CANNOT_ASSIGN_ALTER
	codeRenameFailed     = 521 // ATOMIC_RENAME_FAIL: a view was replaced that gets a comment
	codeAuthFailed       = 516
	codeSocketTimeout    = 209
	codeNetworkError     = 210
	codeTooManyQueries   = 202
	codeMemoryLimit      = 241
	codeTooManyParts     = 252
	codeAllConnsFailed   = 279
	codeReadonlyTable    = 242
	codeKeeper           = 999
	codeTimeout          = 159
	codeAccessDenied     = 497
	codeReadonly         = 164
	codeNoWritableAccess = 514
)

// UnavailableError says that there is no ClickHouse to talk to.
type UnavailableError struct {
	Where string // host:port, or the engine
	Err   error
}

func (e *UnavailableError) Error() string { return fmt.Sprintf("ClickHouse at %s: %v", e.Where, e.Err) }
func (e *UnavailableError) Unwrap() error { return e.Err }

// UnconfinedError says that the engine was not started because it cannot be confined.
type UnconfinedError struct {
	Missing []string // see sandbox.Missing
}

func (e *UnconfinedError) Error() string {
	return fmt.Sprintf("the engine is not started: require_sandbox in windlass.json asks for one that the system confines, and this "+
		"system cannot confine %s. Use a newer kernel or a ClickHouse server (WINDLASS_CLICKHOUSE_DSN), or set require_sandbox to false",
		strings.Join(e.Missing, "; nor "))
}

func exception(err error) *driver.Exception {
	var ex *driver.Exception
	if errors.As(err, &ex) {
		return ex
	}
	return nil
}

// hasCode reports whether the server answered with one of the codes.
func hasCode(err error, codes ...int32) bool {
	var se *SQLError
	if errors.As(err, &se) {
		return slices.Contains(codes, se.Code)
	}
	ex := exception(err)
	return ex != nil && slices.Contains(codes, ex.Code)
}

func isUnknownObject(err error) bool { return hasCode(err, codeUnknownTable, codeUnknownDatabase) }

// isRetryable reports whether the same write may succeed later.
func isRetryable(err error) bool {
	if errors.Is(err, context.Canceled) {
		return false
	}
	if exception(err) != nil {
		return hasCode(err, codeSocketTimeout, codeNetworkError, codeTooManyQueries, codeMemoryLimit, codeTooManyParts,
			codeAllConnsFailed, codeReadonlyTable, codeKeeper, codeTimeout)
	}
	return isNetwork(err)
}

// isNetwork reports whether err is a failure of the connection, not an answer.
func isNetwork(err error) bool {
	var ne net.Error
	var unavailable *UnavailableError
	return errors.As(err, &ne) || errors.As(err, &unavailable) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, driver.ErrConnectionClosed) ||
		errors.Is(err, driver.ErrAcquireConnTimeout) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, context.DeadlineExceeded)
}

// IsLost reports whether a database is not there any more, so that it may help to open it again.
func IsLost(err error) bool { return isGone(err) && !errors.Is(err, context.DeadlineExceeded) }

// SQLError is what the server said of a query, without the server's internals.
type SQLError struct {
	Code    int32
	Name    string // such as SYNTAX_ERROR
	Message string
}

func (e *SQLError) Error() string {
	if e.Name == "" {
		return fmt.Sprintf("ClickHouse error %d: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("%s (ClickHouse error %d): %s", e.Name, e.Code, e.Message)
}

var (
	errorName     = regexp.MustCompile(`\s*\(([A-Z][A-Z0-9_]+)\)\s*$`)
	versionSuffix = regexp.MustCompile(`\s*\(version [^)]*(\([^)]*\))?[^)]*\)\s*$`)
)

// sqlError turns an exception of the server into an SQLError; other errors stay as they are.
func sqlError(err error) error {
	ex := exception(err)
	if ex == nil {
		return err
	}
	e := &SQLError{Code: ex.Code, Message: versionSuffix.ReplaceAllString(ex.Message, "")}
	if m := errorName.FindStringSubmatchIndex(e.Message); m != nil {
		e.Name = e.Message[m[2]:m[3]]
		e.Message = e.Message[:m[0]]
	}
	// After a syntax error the server lists every word that would have fit.
	e.Message, _, _ = strings.Cut(e.Message, " Expected one of:")
	e.Message = strings.TrimSuffix(strings.TrimSpace(strings.TrimPrefix(e.Message, "DB::Exception:")), ": .")
	return e
}

// IsReadonly reports whether the statement was refused because it may only read.
func (e *SQLError) IsReadonly() bool { return e.Code == codeReadonly }

// IsDenied reports whether the user of the database may not do what the statement does.
func (e *SQLError) IsDenied() bool { return e.Code == codeAccessDenied }
