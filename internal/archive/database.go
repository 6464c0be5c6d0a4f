package archive

import (
	"context"
	"errors"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/failure"
)

// interruptedError is that of a use that the end of its context has ended.
type interruptedError struct{ err error }

func (*interruptedError) Error() string   { return "interrupted" }
func (e *interruptedError) Unwrap() error { return e.err }

// DatabaseError gives the error of a use of ClickHouse its kind, unless it has one.
func DatabaseError(ctx context.Context, err error) error {
	var f *failure.Error
	switch {
	case err == nil || errors.As(err, &f):
		return err
	case ctx.Err() != nil:
		return failure.New(failure.Interrupted, &interruptedError{ctx.Err()}, "")
	}
	return failure.New(databaseKind(err), err, "")
}

func databaseKind(err error) failure.Kind {
	var (
		unavailable *clickhouse.UnavailableError
		sql         *clickhouse.SQLError
		refused     *clickhouse.RefusedError
		notFound    *embedded.NotFoundError
		unconfined  *clickhouse.UnconfinedError
		newer       *clickhouse.NewerSchemaError
		old         *clickhouse.OldSchemaError
	)
	switch {
	case errors.As(err, &notFound), errors.As(err, &unconfined):
		return failure.EngineMissing
	case errors.As(err, &newer), errors.As(err, &old):
		return failure.OtherVersion
	case errors.As(err, &unavailable): // also when the server has said why, as of a wrong password
		return failure.StorageFailed
	case errors.As(err, &sql), errors.As(err, &refused), errors.Is(err, clickhouse.ErrManyStatements):
		return failure.Failed
	}
	return failure.StorageFailed
}

func isAway(err error) bool {
	switch failure.KindOf(err) {
	case failure.StorageFailed, failure.EngineMissing, failure.OtherVersion:
		return true
	}
	return false
}
