internal import ArborFoundation
package import ArborModel

/// Encodes the stored model as JSON, which any tool can display.
package enum ModelCodec {
  /// Returns the bytes of the `model` entry.
  package static func encode(_ model: ManagedObjectModel) -> [UInt8] { Array(model.compactJSON) }

  /// Returns the bytes of the `model-digest` entry.
  package static func encode(_ digest: ModelDigest) -> [UInt8] {
    withUnsafeBytes(of: digest.bits.littleEndian) { Array($0) }
  }

  /// Decodes the bytes of the `model-digest` entry. Returns `nil` for other bytes.
  package static func decodeDigest(_ bytes: UnsafeRawBufferPointer) -> ModelDigest? {
    guard bytes.count == 16 else { return nil }
    return ModelDigest(bits: UInt128(littleEndian: bytes.loadUnaligned(as: UInt128.self)))
  }

  /// Decodes the bytes of the `model` entry.
  ///
  /// - Throws: `corrupted` if the bytes are not a model.
  package static func decode(
    _ bytes: UnsafeRawBufferPointer
  ) throws(StoreError) -> ManagedObjectModel {
    do throws(ArborError) {
      return try ManagedObjectModel(json: Data(bytes))
    } catch {
      throw .corrupted(what: "The stored model cannot be read: \(error.message)")
    }
  }
}
