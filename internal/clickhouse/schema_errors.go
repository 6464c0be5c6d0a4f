package clickhouse

import (
	"fmt"

	"github.com/windlass-run/windlass/echo"
)

// NewerSchemaError says that the database was made by a newer windlass than this one.
type NewerSchemaError struct {
	Database string
	Have     uint32 // of the database
	Known    uint32 // to this program
}

func (e *NewerSchemaError) Error() string {
	return fmt.Sprintf("the ClickHouse database %q has schema version %d, but this windlass knows only up to %d: "+
		"use a newer windlass, or another database", e.Database, e.Have, e.Known)
}

// OldSchemaError says that the database was made by a windlass whose records this one cannot read. It was left as it is.
type OldSchemaError struct {
	Database string
	Have     uint32 // of the database
}

func (e *OldSchemaError) Error() string {
	return fmt.Sprintf("the ClickHouse database %q has schema version %d, which this windlass does not read; it was left as it is. "+
		"The last windlass that reads it was built from commit %s. Name another database in the DSN, such as %q: it is created "+
		"when it does not exist", e.Database, e.Have, echo.LastOldBuild, DefaultDatabase)
}
