internal import ArborModel
internal import LMDB

extension QueryExecutor {
  /// What functions of one whole-numbered attribute are made of, from the keys of an index that
  /// begins with it; nil where the rows have to be read.
  func summaryOfKeys(_ attribute: AttributeSchema) throws -> FieldSummary? {
    guard !hasPendingChanges, let covering = try planner.coveringIndex(attribute) else {
      return nil
    }
    source.noteUse(of: covering.index)
    ran = .keys(covering)
    var summary = FieldSummary(kind: attribute.field.kind)
    let mask = KeyEncoder.mask(isAscending: covering.column.isAscending)
    let isFlag = covering.column.kind == .boolean
    let length = isFlag ? 2 : 9
    var isReadable = true
    let cursor = try source.reader.cursor(source.database(of: covering.index))
    for range in covering.ranges where isReadable {
      isReadable = try source.forEachKey(cursor, in: range) {
        entry, count in
        let key = entry.key
        guard covering.filter?.accepts(key) ?? true, let marker = key.first,
          marker ^ mask != KeyEncoder.nilMarker
        else { return true }
        guard key.count >= length else { return false }
        if isFlag {
          summary.add(Int64(key[1] ^ mask), times: count)
        } else {
          let bits = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
          let number = (mask == 0 ? bits : ~bits) ^ (1 << 63)
          summary.add(Int64(bitPattern: number), times: count)
        }
        return true
      }
    }
    return isReadable ? summary : nil
  }
}
