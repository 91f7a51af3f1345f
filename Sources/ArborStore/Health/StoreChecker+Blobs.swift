internal import ArborModel
internal import LMDB

/// Checks that every external binary value is undamaged and referred to by a record.
extension StoreChecker {
  /// Reads and checks the binary values that a record refers to.
  mutating func checkBlobs(
    _ number: ObjectNumber, _ record: RecordView, _ plan: WritePlan
  ) throws(StoreError) {
    for field in plan.entity.layout.externalFields {
      guard let reference = record.blob(field) else { continue }
      let name = BlobName(reference, of: number, field)
      blobs.insert(name)
      var isSound = false
      try limit.checkStore()
      if let database = store.databases.blobs(plan.entity.index) {
        isSound = try storing(BlobStorage.read(reference, name, database, reader) != nil)
      }
      if isSound {
        blobChunkCount += Int(BlobStorage.chunkCount(reference))
        continue
      }
      report.add(
        .damagedBlob,
        "A binary value of \(self.name(number)) stored outside its record is damaged or missing.",
        entity: plan.entity.name, object: number)
    }
  }

  /// Compares the stored chunks of an entity with the references of its records.
  mutating func checkStrayBlobs(_ plan: WritePlan) throws(StoreError) {
    guard let database = store.databases.blobs(plan.entity.index) else { return }
    var count = 0
    let properties = Set(plan.entity.layout.fields.map(\.catalogNumber))
    try reader.forEachEntry(of: database, limit) { found in
      let key = BlobName.of(key: found.key)
      if let key, blobs.contains(key.name) {
        count += 1
      } else if !keepsFormerModel || key.map({ properties.contains($0.name.property) }) ?? true {
        let owner = key?.name.number
        report.add(
          .strayBlob,
          "\(database.name) has a chunk that doesn't belong to a binary value of "
            + "\(owner.map(name) ?? "any object").",
          entity: plan.entity.name, object: owner)
      }
    }
    if count > blobChunkCount, !report.problems.contains(where: { $0.kind == .damagedBlob }) {
      report.add(
        .strayBlob, "\(database.name) has chunks after the end of a binary value.",
        entity: plan.entity.name)
    }
    blobs = []
    blobChunkCount = 0
  }
}
