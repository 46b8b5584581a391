// The core's trap arithmetic on its own: what test_trap_arithmetic.py asks on standard input, a number a line.
//
//   ASSESSMENT MARGIN SWINDLE RISK RISK_SHARE COUNT EXPECTED...  then questions: a letter and its arguments
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "search/trap_arithmetic.hpp"

int main() {
    using namespace desdemona;
    int assessment, swindle, count;
    std::string risk_share;  // may be infinite, which streams do not read
    TrapOptions options{};
    std::cin >> assessment >> options.margin_centi >> swindle >> options.risk >> risk_share >> count;
    options.assessment = static_cast<TrapOptions::Assessment>(assessment);
    options.swindle = swindle != 0;
    options.risk_share = std::stod(risk_share);
    std::vector<std::int16_t> expected(static_cast<std::size_t>(count));
    for (auto& each : expected) std::cin >> each;
    options.expected = expected.data();
    options.expected_count = count;
    const TrapArithmetic trap(options);
    char question;
    while (std::cin >> question) {
        double a = 0;
        int b = 0, c = 0;
        double answer = 0;
        switch (question) {
            case 'w': std::cin >> b; answer = trap.utility(b); break;
            case 'a': {
                std::cin >> b;
                std::vector<int> scores(static_cast<std::size_t>(b));
                for (int& score : scores) std::cin >> score;
                answer = trap.assess(scores.data(), b);
                break;
            }
            case 'q': std::cin >> a >> b >> c; answer = trap.quality(a, b, c); break;
            case 'i': std::cin >> a >> b >> c; answer = trap.inclination(a, b, c); break;
            case 'm': std::cin >> a >> b >> c; answer = trap.quality_ceiling(a, b, c); break;
            case 'c': std::cin >> b; answer = trap.bonus_cap(b); break;
            case 'b': std::cin >> a >> b; answer = trap.bonus(a, b); break;
        }
        std::printf("%.17g\n", answer);
    }
}
