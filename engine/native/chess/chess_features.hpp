// The features of the chess evaluation by number, and its weights as plain values.
//
// A feature's value is its count for the side to move minus its count for the other side; each has a middlegame weight
// and an endgame weight. engine/games/chess_evaluation.py has the same list, and lab/training/chess.py learns the
// weights.
#pragma once

#include <cstdint>

namespace desdemona::chess {

// Kinds of pieces that a side may lose to the next capture, by THREATS of engine/games/chess_evaluation.py; see
// `threats` in chess_evaluation.hpp.
constexpr int kThreats = 15;

constexpr int kDangers = 32;  // levels of king danger

// Offset of each group of features.  Ranks and squares are seen from the side that they count for.
constexpr int kPieceSquare = 0;                           // [piece][square]
constexpr int kKnightMobility = kPieceSquare + 6 * 64;    // [squares]
constexpr int kBishopMobility = kKnightMobility + 9;
constexpr int kRookMobility = kBishopMobility + 14;
constexpr int kQueenMobility = kRookMobility + 15;
constexpr int kDanger = kQueenMobility + 28;              // [of the king to move][has the attacker a queen][step]
constexpr int kShield = kDanger + 2 * 2 * kDangers;       // [beside the king's file][rank of the pawn, 0: none]
constexpr int kStorm = kShield + 2 * 8;                   // [blocked][rank of the pawn, 0: none]
constexpr int kSupported = kStorm + 2 * 8;                // [rank]
constexpr int kPhalanx = kSupported + 8;                  // [rank]
constexpr int kDoubled = kPhalanx + 8;
constexpr int kIsolated = kDoubled + 1;                   // [no enemy pawn ahead]
constexpr int kBackward = kIsolated + 2;                  // [likewise]
constexpr int kPassed = kBackward + 2;                    // [rank]
constexpr int kPassedFree = kPassed + 8;                  // [rank]: the next square is empty
constexpr int kPassedSafe = kPassedFree + 8;              // [rank]: and not attacked
constexpr int kPassedOwnKing = kPassedSafe + 8;           // [distance from the next square], from the fifth rank on
constexpr int kPassedOtherKing = kPassedOwnKing + 8;      // likewise
constexpr int kRunner = kPassedOtherKing + 8;             // unstoppable
constexpr int kBishopPair = kRunner + 1;
constexpr int kBishopPawns = kBishopPair + 1;             // own pawns on the bishop's colour
constexpr int kKnightPawns = kBishopPawns + 1;            // knights times own pawns
constexpr int kRookPawns = kKnightPawns + 1;              // rooks times own pawns
constexpr int kOpenRook = kRookPawns + 1;                 // [enemy pawn on the file]
constexpr int kOutpost = kOpenRook + 2;                   // [bishop]
constexpr int kThreat = kOutpost + 2;                     // [of the waiting side][first, second, more][kind]
constexpr int kPushThreat = kThreat + 2 * 3 * kThreats;   // [of the waiting side]
constexpr int kTempo = kPushThreat + 2;
constexpr int kInCheck = kTempo + 1;
constexpr int kFeatures = kInCheck + 1;

constexpr int kMaxEvaluation = 20'000;  // centipawns

struct Evaluation {
    std::int16_t weights[kFeatures][2];  // centipawns: middlegame, endgame
};

}  // namespace desdemona::chess
