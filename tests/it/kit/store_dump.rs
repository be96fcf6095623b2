//! Dumps every row of a store as text, to detect changes.

use std::path::Path;

use rusqlite::types::ValueRef;

/// All tables and their rows in a fixed order.
pub fn dump_store(folder: &Path) -> String {
    let connection = rusqlite::Connection::open(folder.join(".plenary/plenary.db")).unwrap();
    let mut tables = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'search_text_%' ORDER BY name")
        .unwrap();
    let names = tables.query_map([], |row| row.get::<_, String>(0)).unwrap();
    names.map(|name| dump_rows(&connection, &name.unwrap())).collect()
}

fn dump_rows(connection: &rusqlite::Connection, table: &str) -> String {
    let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
    let columns = statement.column_count();
    let mut found = statement.query([]).unwrap();
    let mut lines = Vec::new();
    while let Some(row) = found.next().unwrap() {
        let cells = (0..columns).map(|column| match row.get_ref(column).unwrap() {
            ValueRef::Null => "∅".to_owned(),
            ValueRef::Integer(integer) => integer.to_string(),
            ValueRef::Real(real) => real.to_string(),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                String::from_utf8_lossy(bytes).into_owned()
            }
        });
        lines.push(format!("{table}: {}\n", cells.collect::<Vec<_>>().join(" | ")));
    }
    lines.sort();
    lines.concat()
}
